"""RLX201 for what one branch kills and gives on, with other branches between that and its use."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.four_elements import STORAGE, T4, TENSOR

BETWEEN = """
    if c:
        q0 = R.add(x, x)
        q = q0
    else:
        q1 = R.multiply(x, x)
        q = q1"""
PROGRAM = """
@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool"), d: R.Tensor((), "bool")) -> T4:
    s = STORAGE
    a = TENSOR
    w = R.call_packed("my.fill", a)BEFORE
    if d:
        k = R.memory.kill_tensor(a)
        v0 = a
        v = v0
    else:
        v1 = x
        v = v1AFTER
    USE
    return r
"""
AT_ONCE = "r = R.add(v, v)"
LATER = """if c:
        r0 = R.add(v, v)
        r = r0
    else:
        r1 = R.add(x, x)
        r = r1"""


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize(
    ("use", "verdict", "told_of"),
    [
        # Whenever the branch is taken the use follows.
        (AT_ONCE, "always-wrong", "v"),
        # It follows on some paths only.
        (LATER, "needs-runtime-check", "r0"),
    ],
)
def test_it_is_told_of_the_branch_if_the_use_follows(
    before: int, after: int, use: str, verdict: str, told_of: str
) -> None:
    text = PROGRAM.replace("BEFORE", BETWEEN.replace("q", "p") * before).replace("USE", use)
    text = text.replace("AFTER", "".join(BETWEEN.replace("q", name) for name in "qy"[:after]))
    text = text.replace("STORAGE", STORAGE).replace("TENSOR", TENSOR.format("s")).replace("T4", T4)
    (check,) = [one for one in checks(parse(text), "RLX201") if one.verdict.value != "always-fine"]
    assert (check.verdict.value, check.binding) == (verdict, told_of)
