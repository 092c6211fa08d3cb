"""How much is done to judge the accesses of a kernel is counted, and ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sympy
import tvm
from tvm import relax

from relax_lint.model.kernel_access import outside, scope, terms
from relax_lint.model.kernel_access.atoms import Kind
from relax_lint.model.kernel_access.conditions import AtLeastZero
from relax_lint.model.kernel_access.elimination import eliminate
from relax_lint.model.kernel_access.outside import Around, Claim, obligations
from relax_lint.model.kernel_access.polynomials import constant
from relax_lint.model.kernel_access.reading import read_accesses
from relax_lint.model.kernel_access.walk import Walk

TOO_LARGE = "the kernel is too large for every access to be judged"
ROOM = 500
"""What one system of constraints may take beyond the limit."""


SORT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.sort(x, axis=1)
        return y
"""


@pytest.fixture(scope="module")
def merge_sort() -> tvm.tirx.PrimFunc:
    """The sort kernel for GPUs: nested loops over blocks, and searches in two tables."""
    target = tvm.target.Target("nvidia/geforce-rtx-3090")
    with target:
        lowered = relax.backend.DispatchSortScan()(tvm.script.from_source(SORT))
    return next(f for f in lowered.functions.values() if isinstance(f, tvm.tirx.PrimFunc))


def test_a_sort_kernel_needs_less_than_half_of_what_is_allowed(merge_sort: tvm.tirx.PrimFunc) -> None:
    read = read_accesses(merge_sort)
    assert 0 < read.terms.effort < terms.MAX_EFFORT / 2
    assert TOO_LARGE not in {o.why for access in read.accesses for o in access.obligations}


def test_no_more_is_done_than_is_allowed(
    merge_sort: tvm.tirx.PrimFunc, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_accesses(merge_sort)
    monkeypatch.setattr(terms, "MAX_EFFORT", 20)
    part = read_accesses(merge_sort)
    assert part.terms.effort < terms.MAX_EFFORT + ROOM
    left = {o.why for access in part.accesses for o in access.obligations}
    assert TOO_LARGE in left
    # What is not judged any more is in doubt, and no access is lost.
    assert len(part.accesses) == len(whole.accesses)
    pairs = zip(part.accesses, whole.accesses, strict=True)
    assert all(one.obligations or not other.obligations for one, other in pairs)


HANDED = """
@T.prim_func(s_tir=True)
def main(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32")):
    s = T.alloc_buffer((16,), "float32")
    for i in range(16):
        s[i // 2 * 2] = x[i // 4 * 4]
    T.evaluate(T.call_extern("int32", "f", s.data))
    for i in range(16):
        y[i // 2 * 2] = s[i]
"""


def test_indices_are_judged_in_the_reading_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first reading only finds out that others write `s`: nobody asks what its accesses leave."""
    begun: list[terms.Terms] = []
    judged: list[tuple[int, int]] = []
    read = Walk.statement

    def statement(walk: Walk, node: object) -> None:
        if walk.terms not in begun:
            begun.append(walk.terms)
        read(walk, node)

    def counted(of: terms.Terms, claims: Sequence[Claim], around: Around) -> object:
        judged.extend((begun.index(of), axis) for axis, _, _ in claims if axis is not None)
        return obligations(of, claims, around)

    monkeypatch.setattr(Walk, "statement", statement)
    monkeypatch.setattr(scope, "obligations", counted)
    found = read_accesses(tvm.script.from_source(HANDED))
    assert len(begun) == 2
    assert found.terms is begun[1]
    # Two ends of one axis, for each access but that of which nothing is known.
    readable = [access for access in found.accesses if not access.unread]
    assert len(readable) == 4
    assert len(judged) == 2 * len(readable)
    assert {number for number, _ in judged} == {1}


def test_what_was_tried_is_not_tried_again_where_only_conditions_on_other_numbers_are_added() -> None:
    found = terms.Terms()
    loop, other = (found.loop(name, constant(0), constant(8)) for name in "ij")
    half = found.quotient(loop, constant(2))
    assert half is not None
    assert found[max(half.atoms())].kind is Kind.QUOTIENT
    # 2 * (i // 2) > i never holds.
    claim = (0, False, half.scale(2) - loop.shift(1))
    assert obligations(found, [claim], Around((), ())) == ()
    before = found.effort
    assert before > 0
    assert obligations(found, [claim], Around((AtLeastZero(other.shift(-1)),), ())) == ()
    assert found.effort == before


def test_an_attempt_counts_once_for_each_reason_and_is_made_once_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = terms.Terms()
    n = found.symbol(sympy.Symbol("n", integer=True), (0, None))
    loop = found.loop("i", constant(0), n)
    # i >= 8 is so in the last steps, where n > 8.
    claim = (0, False, loop.shift(-8))
    (number,) = loop.atoms()
    systems: list[object] = []

    def counted(*given: Any) -> object:
        systems.append(given)
        return eliminate(*given)

    monkeypatch.setattr(outside, "eliminate", counted)
    plain = obligations(found, [claim], Around((), (number,)))
    made, taken = len(systems), found.effort
    assert made > 0
    doubted = obligations(found, [claim], Around((), (number,), ("a reason", "another one")))
    assert len(systems) == made
    assert found.effort > taken
    assert [(one.outside, one.exact, one.why) for one in plain] == [((n.shift(-9),), True, "")]
    assert [(one.outside, one.exact, one.why) for one in doubted] == [((n.shift(-9),), False, "a reason")]
