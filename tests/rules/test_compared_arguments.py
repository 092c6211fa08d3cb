"""RLX301 for calls of Relax functions: what the caller knows of what is compared, with runs at sizes that it tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from tests.rules.checking import checks, parse

INNER = """
@R.function(private=True)
def inner({parameters}) -> R.Tensor(ndim=1, dtype="float32"):
    n = T.int64()
    m = T.int64()
    r = R.add(a, a)
    return r

@R.function
def main(
    a: R.Tensor(("p",), "float32"),
    b: R.Tensor(("q",), "float32"),
    d: R.Tensor(ndim=1, dtype="float32"),
    t: R.Tuple(R.Tensor(("p",), "float32"), R.Tensor(("q",), "float32")),
) -> R.Tensor(ndim=1, dtype="float32"):
    p = T.int64()
    q = T.int64()
    r = Module.inner({arguments})
    return r
"""
OF = 'R.Tensor(("{}",), "float32")'
FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"
CASES = [
    (("n", "n"), "a, a", FINE, None),
    (("n", "m"), "a, b", None, None),
    (("n", "n"), "a, b", UNSURE, "q == p"),
    (("n", "n + 1"), "a, a", WRONG, None),
    # Of `d` nobody knows the extent: what is known is wrong, or not sure, and never all that is compared.
    (("n", "n"), "a, d", None, None),
    (("n", "n"), "d, a", None, None),
    (("n", "n", "n"), "a, a, d", None, None),
    (("n", "n", "n"), "a, b, d", UNSURE, None),
    (("n", "n", "n"), "d, a, b", None, None),
    (("n", "n", "n + 1"), "a, d, a", WRONG, None),
    (("n", "t"), "a, t", UNSURE, "q == p"),
]


def _module(extents: tuple[str, ...], arguments: str) -> Any:
    types = [OF.format(extent) for extent in extents]
    if "t" in extents:
        types = [OF.format("n"), f"R.Tuple({OF.format('n')}, {OF.format('n')})"]
    parameters = ", ".join(f"{name}: {type_}" for name, type_ in zip("abc", types, strict=False))
    return parse(INNER.format(parameters=parameters, arguments=arguments))


def _told(extents: tuple[str, ...], arguments: str) -> list[Check]:
    return [one for one in checks(_module(extents, arguments), "RLX301") if one.function == "main"]


@pytest.mark.parametrize(("extents", "arguments", "verdict", "safe"), CASES)
def test_what_is_compared(
    extents: tuple[str, ...], arguments: str, verdict: str | None, safe: str | None
) -> None:
    told = [one for one in _told(extents, arguments) if "inner" in one.message]
    assert [(one.verdict.value, one.safe_when) for one in told] == (
        [] if verdict is None else [(verdict, safe)]
    )


@pytest.mark.parametrize(
    ("extents", "arguments", "said"),
    [
        (("n", "n"), "a, b", "extent 0 of `b` is `q`, the function expects `p`"),
        (("n", "n", "n"), "a, a, b", "extent 0 of `b` is `q`, the function expects `p`"),
        (("n", "n", "n + 1"), "a, a, a", "extent 0 of `a` is `p`, the function expects `p + 1`"),
        (("n", "n + 1", "n"), "a, a, b", "extent 0 of `a` is `p`, the function expects `p + 1`"),
        (("n", "n", "n + 1"), "a, b, a", "extent 0 of `b` is `q`, the function expects `p`"),
        (("n", "t"), "a, t", "extent 0 of field 1 of `t` is `q`, the function expects `p`"),
    ],
)
def test_the_first_comparison_that_may_fail_is_named(
    extents: tuple[str, ...], arguments: str, said: str
) -> None:
    (found,) = (one for one in _told(extents, arguments) if "inner" in one.message)
    assert said in found.message


@pytest.mark.vm
@pytest.mark.parametrize(("extents", "arguments", "verdict", "safe"), CASES)
def test_what_runs_say(
    extents: tuple[str, ...], arguments: str, verdict: str | None, safe: str | None
) -> None:
    """Where a region is told it decides; where none is, equal sizes do not keep a run from failing."""
    machine = relax.VirtualMachine(tvm.compile(_module(extents, arguments), "llvm"), tvm.cpu())
    ends: dict[tuple[int, int, int], bool] = {}
    for p, q, other in ((2, 2, 2), (2, 2, 3), (2, 3, 2), (2, 3, 3)):
        one, two, three = (tvm.runtime.tensor(np.zeros(size, "float32")) for size in (p, q, other))
        try:
            machine["main"](one, two, three, (one, two))
        except Exception:
            ends[p, q, other] = False
        else:
            ends[p, q, other] = True
    if verdict == WRONG:
        assert not any(ends.values())
    elif verdict == FINE or "d" not in arguments:
        assert all(ended is (verdict in (FINE, None) or p == q) for (p, q, _), ended in ends.items())
    else:
        assert len(set(ends.values())) == 2
        assert ends[2, 2, 2]
        assert not ends[2, 2, 3]
