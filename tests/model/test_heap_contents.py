"""What the slots of a shape heap hold behind writes, branches and calls, slot by slot: also those that nobody has named."""

from __future__ import annotations

from itertools import product

import pytest
import sympy

from relax_lint.model.heap_contents import (
    UNSURE,
    UNWRITTEN,
    WRITTEN,
    Contents,
    Given,
    Last,
    Slot,
    Ways,
    Written,
    written_on,
)

N, M = sympy.symbols("n m", integer=True)
GIVEN = Given("f", 1)
NO_WAYS: Ways = frozenset()
SLOTS: tuple[dict[int, Slot], ...] = (
    {},
    {0: Slot(N, WRITTEN)},
    {0: Slot(M, WRITTEN), 1: Slot(None, UNWRITTEN)},
    {1: Slot(N, UNSURE), 2: Slot(N, frozenset({GIVEN}))},
)
ALL = [
    Contents(others, slots) for others in (UNWRITTEN, WRITTEN, UNSURE, frozenset({GIVEN})) for slots in SLOTS
]
INDICES = range(4)


@pytest.mark.parametrize(("one", "other"), list(product(ALL, ALL[::3])))
def test_what_two_contents_make_is_so_for_each_slot(one: Contents, other: Contents) -> None:
    joined, met = one.join(other), one.meet(other)
    for index in INDICES:
        before, after = one.slot(index), other.slot(index)
        assert joined.ways(index) == before.ways | after.ways
        assert joined.value(index) == (before.value if before.value == after.value else None)
        # What the call may have written has no value any more.
        may_write = Last.WRITTEN in after.ways
        assert met.ways(index) == before.ways | (WRITTEN if may_write else NO_WAYS)
        assert met.value(index) == (None if may_write else before.value)


@pytest.mark.parametrize("one", ALL)
@pytest.mark.parametrize("written", INDICES)
def test_a_write_is_one_of_its_slot(one: Contents, written: int) -> None:
    surely, perhaps, somewhere = one.write(written, M), one.write_perhaps(written, M), one.blur()
    for index in INDICES:
        before = one.slot(index)
        is_it = index == written
        assert surely.slot(index) == (Slot(M, WRITTEN) if is_it else before)
        kept = before.value if before.value == M else None
        assert perhaps.slot(index) == (Slot(kept, before.ways | WRITTEN) if is_it else before)
        assert somewhere.slot(index) == Slot(None, before.ways | WRITTEN)
    assert one.value(None) is None
    every = frozenset().union(*(one.slot(index).ways for index in INDICES))
    # Of any slot it may be known that some were not written, not that this one was not.
    assert one.ways(None) == (every | WRITTEN if Last.NOTHING in every else every)


@pytest.mark.parametrize("before", ALL[::3])
@pytest.mark.parametrize("inside", ALL)
def test_what_a_function_was_given_is_what_its_caller_has_done(inside: Contents, before: Contents) -> None:
    found, alone = inside.behind({GIVEN: before}), inside.behind({})
    for index in INDICES:
        slot = inside.slot(index)
        own = slot.ways - {GIVEN}
        is_given = GIVEN in slot.ways
        assert found.ways(index) == own | (before.ways(index) if is_given else NO_WAYS)
        assert alone.ways(index) == own | (UNSURE if is_given else NO_WAYS)
        assert found.value(index) == (before.value(index) if slot.ways == {GIVEN} else None)
        assert alone.value(index) is None


@pytest.mark.parametrize(
    ("ways", "written"),
    [
        (WRITTEN, Written.ALWAYS),
        (UNWRITTEN, Written.NEVER),
        (UNSURE, Written.PERHAPS),
        (frozenset({GIVEN}), Written.ALWAYS),
        (frozenset({GIVEN, Last.NOTHING}), Written.PERHAPS),
    ],
)
def test_on_which_paths_a_slot_was_written(ways: Ways, written: Written) -> None:
    assert written_on(ways) is written
