"""RLX101 and RLX501 for a tensor on one of two storages, which a branch decides, with runs of both branches."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from tests.rules.checking import checks, parse

PROGRAM = """
@R.function(pure=False)
def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")):
    R.func_attr({{"tir_var_upper_bound": {{"n": {bound}}}}})
    n = T.int64()
    if c:
        one = R.memory.alloc_storage(R.shape([{yes}]), 0, "global", "uint8")
        either = one
    else:
        other = R.memory.alloc_storage(R.shape([{no}]), 0, "global", "uint8")
        either = other
    t = R.memory.alloc_tensor(either, 0, R.shape([n]), "float32")
    return t
"""
FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"
BOUND = "n <= {} (tir_var_upper_bound, not enforced)"
CASES = [
    ("40", "80", 1000, UNSURE, "n <= 10"),
    ("80", "40", 1000, UNSURE, "n <= 10"),
    ("4 * n", "80", 1000, UNSURE, "n <= 20"),
    ("80", "4 * n", 1000, UNSURE, "n <= 20"),
    ("4 * n", "8 * n", 1000, FINE, None),
    ("4 * n", "80", 20, FINE, None),
    ("80", "4 * n", 20, FINE, None),
    ("80", "120", 20, FINE, None),
    ("80", "2 * n", 20, UNSURE, "n <= 0"),
    ("2 * n", "80", 20, UNSURE, "n <= 0"),
    ("2 * n", "80", 1000, UNSURE, "n <= 0"),
    ("2 * n", "n", 1000, UNSURE, "n <= 0"),
    ("4 * n - 4", "80", 1000, UNSURE, None),
    ("80", "4 * n - 4", 20, UNSURE, None),
    ("4 * n - 4", "2 * n - 8", 20, WRONG, None),
]


def _module(yes: str, no: str, bound: int) -> Any:
    return parse(PROGRAM.format(yes=yes, no=no, bound=bound))


def _placed(yes: str, no: str, bound: int) -> Check:
    (found,) = (check for check in checks(_module(yes, no, bound), "RLX101") if check.binding == "t")
    return found


@pytest.mark.parametrize(("yes", "no", "bound", "verdict", "safe"), CASES)
def test_safe_is_what_is_safe_in_both_branches(
    yes: str, no: str, bound: int, verdict: str, safe: str | None
) -> None:
    found = _placed(yes, no, bound)
    assert (found.verdict.value, found.safe_when) == (verdict, safe)


@pytest.mark.parametrize(
    ("yes", "no", "bound", "relies"),
    [
        ("4 * n", "80", 20, True),
        ("80", "4 * n", 20, True),
        ("80", "120", 20, True),
        ("4 * n", "8 * n", 20, False),
        ("4 * n", "80", 21, False),
    ],
)
def test_a_bound_is_relied_on_where_one_branch_needs_it(yes: str, no: str, bound: int, relies: bool) -> None:
    fine = _placed(yes, no, bound).verdict.value == FINE
    assert (_placed(yes, no, bound).assumes == (BOUND.format(bound),)) is (relies or not fine)
    told = [check for check in checks(_module(yes, no, bound), "RLX501") if check.verdict.value != FINE]
    assert bool(told) is relies


@pytest.mark.parametrize(
    ("yes", "no", "severe"), [("2 * n", "n", True), ("2 * n", "4 * n", False), ("2 * n", "80", False)]
)
def test_where_only_empty_tensors_fit_in_either_branch_it_is_an_error(
    yes: str, no: str, severe: bool
) -> None:
    assert (_placed(yes, no, 1000).severity.value == "error") is severe


@pytest.mark.vm
@pytest.mark.parametrize(("yes", "no", "bound", "verdict", "safe"), CASES)
def test_what_runs_say(yes: str, no: str, bound: int, verdict: str, safe: str | None) -> None:
    """At each size up to the bound, and of each branch."""
    machine = relax.VirtualMachine(
        tvm.compile(_module(yes, no, bound), "llvm"), tvm.cpu(), memory_cfg="naive"
    )
    for n in (1, 2, 9, 10, 11, 15, 20, 21, 30):
        if n > bound:
            continue
        ends = []
        for condition in (True, False):
            try:
                machine["main"](*map(tvm.runtime.tensor, (np.array(condition), np.zeros(n, "float32"))))
            except Exception:
                ends.append(False)
            else:
                ends.append(True)
        if safe is not None:
            assert all(ends) is (n <= int(safe.removeprefix("n <= "))), n
        elif verdict == UNSURE:
            assert not all(ends), n
        else:
            assert set(ends) == {verdict == FINE}, n


@pytest.mark.parametrize(
    ("yes", "no", "bound", "verdict", "safe"),
    [
        ("80", "80", 20, FINE, None),
        ("40", "80", 20, UNSURE, "n <= 10"),
        ("80", "40", 20, UNSURE, "n <= 10"),
        ("4 * n", "80", 1000, UNSURE, "n <= 20"),
        ("80", "4 * n", 1000, UNSURE, "n <= 20"),
        ("4 * n", "8 * n", 1000, FINE, None),
        # A page has 4,096 bytes: what it does not hold is no matter of its rounding.
        ("4096", "4095", 5000, UNSURE, "n <= 1023"),
        ("4096", "4096", 5000, FINE, None),
    ],
)
def test_what_lives_in_the_rounding_of_either_page(
    yes: str, no: str, bound: int, verdict: str, safe: str | None
) -> None:
    (found,) = (
        check
        for check in checks(_module(yes, no, bound), "RLX105", allocators=("pooled",))
        if check.binding == "t"
    )
    assert (found.verdict.value, found.safe_when) == (verdict, safe)


OF_THREE = """
@R.function(pure=False)
def main(c: R.Tensor((), "bool"), d: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32"), u: R.Shape(ndim=1)):
    R.func_attr({{"tir_var_upper_bound": {{"n": {bound}}}}})
    n = T.int64()
    if c:
        one = R.memory.alloc_storage({sizes[0]}, 0, "global", "uint8")
        either = one
    else:
        if d:
            two = R.memory.alloc_storage({sizes[1]}, 0, "global", "uint8")
            other = two
        else:
            three = R.memory.alloc_storage({sizes[2]}, 0, "global", "uint8")
            other = three
        either = other
    t = R.memory.alloc_tensor(either, 0, R.shape([n]), "float32")
    return t
"""


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize(
    ("sizes", "bound", "verdict", "safe", "assumes"),
    [
        (("4 * n", "80", "40"), 1000, UNSURE, "n <= 10", True),
        (("4 * n", "8 * n", "80"), 20, FINE, None, True),
        (("4 * n", "8 * n", "6 * n"), 20, FINE, None, False),
        # Of one of them nobody knows the size.
        (("u", "80", "40"), 1000, UNSURE, None, False),
        (("u", "4 * n", "8 * n"), 1000, UNSURE, None, False),
        (("u", "4 * n - 4", "8 * n"), 1000, UNSURE, None, False),
        # Nothing is put on a storage that cannot be made.
        (("-4", "4 * n", "8 * n"), 1000, FINE, None, False),
        (("-4", "80", "40"), 1000, UNSURE, "n <= 10", True),
        (("-4", "-8", "4 * n"), 1000, FINE, None, False),
        (("-4", "-8", "-12"), 1000, None, None, False),
    ],
)
def test_of_three_storages_all_count_that_can_be_made(
    sizes: tuple[str, ...],
    bound: int,
    verdict: str | None,
    safe: str | None,
    assumes: bool,
    order: tuple[int, ...],
) -> None:
    texts = [sizes[place] if sizes[place] == "u" else f"R.shape([{sizes[place]}])" for place in order]
    found = [
        one
        for one in checks(parse(OF_THREE.format(sizes=texts, bound=bound)), "RLX101")
        if one.binding == "t"
    ]
    assert [(one.verdict.value, one.safe_when) for one in found] == (
        [] if verdict is None else [(verdict, safe)]
    )
    assert any(one.assumes for one in found) is assumes
    assert all(one.undecided is ("u" in sizes) for one in found)


def test_each_storage_is_named() -> None:
    found = _placed("4 * n - 4", "2 * n - 8", 20)
    text = "may be on one of 2 storages: `one` has `4*n - 4` bytes, `other` has `2*n - 8` bytes"
    assert found.message.endswith(text)
    assert [where.message for where in found.related] == [
        "storage of `4*n - 4` bytes",
        "storage of `2*n - 8` bytes",
    ]


def test_of_many_storages_some_are_named() -> None:
    lines = []
    for number in range(4):
        storage = f'R.memory.alloc_storage(R.shape([{40 + number}]), 0, "global", "uint8")'
        one = (f"if c{number}:", f"    s{number} = {storage}", f"    either = s{number}", "else:")
        lines += ["    " * (number + 1) + line for line in one]
    lines.append("    " * 5 + 's4 = R.memory.alloc_storage(R.shape([44]), 0, "global", "uint8")')
    lines.append("    " * 5 + "either = s4")
    parameters = ", ".join(f'c{number}: R.Tensor((), "bool")' for number in range(4))
    lines.append('    t = R.memory.alloc_tensor(either, 0, R.shape([100]), "float32")')
    module = parse("\n".join((f"@R.function(pure=False)\ndef main({parameters}):", *lines, "    return t\n")))
    (found,) = (check for check in checks(module, "RLX101") if check.binding == "t")
    named = "`s0` has 40 bytes, `s1` has 41 bytes, `s2` has 42 bytes, and 2 more"
    assert found.message.endswith(f"may be on one of 5 storages: {named}")
