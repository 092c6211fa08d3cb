"""What must not be where an access touches memory, with numbers for all extents and indices: of random buffers, windows
and views just what leaves an axis or the memory is a claim that is not negative.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pytest

from relax_lint.model.kernel_access import layouts
from relax_lint.model.kernel_access.accesses import BufferRef
from relax_lint.model.kernel_access.layouts import Buffer, MemoryPointer
from relax_lint.model.kernel_access.outside import Claim
from relax_lint.model.kernel_access.polynomials import Poly, constant

SEEDS = range(40)
ITEMS = (1, 8, 16, 32)
Left = Counter[tuple[int | None, bool]]


def numbers(values: Iterable[int]) -> tuple[Poly, ...]:
    return tuple(map(constant, values))


def plain(values: Iterable[Poly | None]) -> list[int]:
    return [value.constant for value in values if value is not None]


def buffer(shape: Sequence[int], item: int = 32, parameter: int | None = None, **more: object) -> Buffer:
    """One with these extents and bits of an element."""
    ref = BufferRef(0, 0, "x", parameter, "global", "float32")
    return Buffer(ref, numbers(shape), None, item=item, **more)  # type: ignore[arg-type]


def memory(chance: random.Random, axes: int) -> Buffer:
    """A parameter, or memory of a kernel's own with strides, an offset, or neither."""
    shape = [chance.randint(1, 4) for _ in range(axes)]
    strides = numbers(chance.randint(0, 3) for _ in shape) if chance.random() < 0.4 else ()
    return buffer(
        shape,
        chance.choice(ITEMS),
        chance.choice((None, None, 0)),
        strides=strides,
        offset=constant(chance.randint(0, 3)) if chance.random() < 0.3 else None,
        is_compact=chance.random() < 0.8,
        may_move=chance.random() < 0.2,
    )


def view(chance: random.Random, source: Buffer) -> Buffer:
    shape = [chance.randint(1, 4) for _ in range(chance.randint(1, 2))]
    strides = numbers(chance.randint(0, 3) for _ in shape) if chance.random() < 0.4 else ()
    offset = constant(chance.randint(-1, 3)) if chance.random() < 0.9 else None
    return buffer(
        shape,
        chance.choice(ITEMS),
        source.ref.parameter,
        source=source,
        view=True,
        strides=strides,
        offset=offset,
    )


def window(chance: random.Random, source: Buffer) -> Buffer:
    """Its last axes are those of the source."""
    axes = chance.randint(1, len(source.shape))
    starts = numbers(chance.randint(-1, 2) for _ in source.shape)
    shape = [chance.randint(1, 3) for _ in range(axes)]
    return buffer(shape, source.item, source.ref.parameter, source=source, starts=starts)


def shown(chance: random.Random) -> Buffer:
    """A buffer, or a window or view of one, or a window of a view or window."""
    found = memory(chance, chance.randint(1, 3))
    if chance.random() < 0.4:
        found = view(chance, found)
    for _ in range(chance.choice((0, 1, 1, 2))):
        found = window(chance, found)
    return found


def points(one: Buffer) -> Iterator[tuple[int, ...]]:
    """All indices inside, and those next to them."""
    return itertools.product(*(range(-1, extent + 1) for extent in plain(one.shape)))


def in_source(one: Buffer, at: Sequence[int]) -> list[int]:
    starts = plain(one.starts)
    lead = len(starts) - len(at)
    return starts[:lead] + [start + index for start, index in zip(starts[lead:], at, strict=True)]


def flat(one: Buffer, at: Sequence[int]) -> int:
    """The position in the memory, in elements of the buffer: by strides, or row by row."""
    start = 0 if one.offset is None else one.offset.constant
    steps = plain(one.strides) or [count(plain(one.shape)[axis + 1 :]) for axis, _ in enumerate(one.shape)]
    return start + sum(index * step for index, step in zip(at, steps, strict=True))


def count(shape: Sequence[int]) -> int:
    found = 1
    for extent in shape:
        found *= extent
    return found


def allocated(one: Buffer) -> int:
    """Elements: the first extent by the first stride, where there are strides."""
    return plain(one.shape)[0] * plain(one.strides)[0] if one.strides else count(plain(one.shape))


def left_memory(place: int, item: int, size: int, own: int) -> Left:
    """How an element of so many bits leaves a memory of `size` elements of `own` bits."""
    found: Left = Counter()
    if place < 0:
        found[None, True] += 1
    if (place + 1) * item > size * own:
        found[None, False] += 1
    return found


def left_axes(one: Buffer, at: Sequence[int]) -> Left:
    """The axes that indices leave, of the buffer and of those that it is a window of."""
    found: Left = Counter()
    for axis, (index, extent) in enumerate(zip(at, plain(one.shape), strict=True)):
        if index < 0:
            found[axis, True] += 1
        if index >= extent:
            found[axis, False] += 1
    source = one.source
    if source is None:
        return found
    if not one.view:
        return found + left_axes(source, in_source(one, at))
    if one.offset is None:
        return found
    return found + left_memory(flat(one, at), one.item, count(plain(source.shape)), source.item)


def said(claims: Iterable[Claim]) -> Left:
    """The claims that say that an access is outside."""
    found: Left = Counter()
    for axis, below, claim in claims:
        assert claim.is_constant
        found[axis, below] += claim.constant >= 0
    return +found


def outermost(one: Buffer, at: Sequence[int]) -> tuple[Buffer, Sequence[int]]:
    """What a window, or a window of one, is cut out of, and the indices there."""
    while one.source is not None and not one.view:
        one, at = one.source, in_source(one, at)
    return one, at


@pytest.mark.parametrize("seed", SEEDS)
def test_what_leaves_an_axis_or_the_memory_that_is_shown(seed: int) -> None:
    one = shown(random.Random(seed))
    for at in points(one):
        assert said(layouts.outside_claims(one, numbers(at))) == left_axes(one, at), at


@pytest.mark.parametrize("seed", SEEDS)
def test_what_leaves_the_memory(seed: int) -> None:
    one = shown(random.Random(seed))
    for at in points(one):
        base, there = outermost(one, at)
        own = base.source or base
        claims = list(layouts.memory_claims(one, numbers(at)))
        if own.may_move or not own.is_compact or (base.view and base.offset is None):
            assert claims == []
            continue
        place = flat(base, there)
        assert len(claims) == 2
        assert said(claims) == left_memory(place, base.item, allocated(own), own.item), at
        assert layouts.position_of(one, numbers(at)) == constant(place)
        assert said(layouts.position_claims(one, constant(place))) == left_memory(
            place, one.item, allocated(own), own.item
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_what_leaves_memory_of_the_kernels_own_that_strides_or_an_offset_lay_out(seed: int) -> None:
    one = shown(random.Random(seed))
    for at in points(one):
        base, there = outermost(one, at)
        own = base.source or base
        claims = list(layouts.layout_claims(one, numbers(at)))
        is_laid_out = bool(own.strides) or (base is own and own.offset is not None)
        if own.ref.parameter is not None or not is_laid_out:
            assert claims == []
        elif base.view and base.offset is None:
            # Nobody knows where it is.
            assert claims == [(None, False, constant(0))]
        else:
            assert len(claims) == 2
            assert said(claims) == left_memory(flat(base, there), base.item, allocated(own), own.item), at


@pytest.mark.parametrize("item", [1, 8, 32])
@pytest.mark.parametrize("own", [1, 8, 16])
def test_a_range_of_elements_is_inside_if_its_first_and_its_last_are(item: int, own: int) -> None:
    one = buffer((3, 2), own)
    for first, size in itertools.product(range(-2, 7), range(7)):
        found = said(layouts.range_claims(one, constant(first), constant(size), item))
        assert found[None, True] == (first < 0)
        assert found[None, False] == ((first + size) * item > 6 * own)
    assert not list(layouts.range_claims(one, constant(0), constant(9), 0))
    assert not list(layouts.range_claims(buffer((3,), 0), constant(0), constant(9), 8))


@pytest.mark.parametrize("seed", SEEDS)
def test_which_part_of_the_memory_a_buffer_shows(seed: int) -> None:
    one = shown(random.Random(seed))
    base, there = outermost(one, [0] * len(one.shape))
    own = base.source or base
    assert layouts.memory_of(one) is own
    assert layouts.allocated(own) == constant(allocated(own))
    assert layouts.count_of(one.shape) == constant(count(plain(one.shape)))
    start = layouts.start_of(one)
    if base.view and base.offset is None:
        assert start is None
        assert layouts.unreadable(one, numbers(there[-len(one.shape) :])) != ""
    else:
        assert start == constant(flat(base, there))
        assert layouts.unreadable(one, one.shape) == ""
    assert "number of indices" in layouts.unreadable(one, (*one.shape, constant(0)))


ZERO, TWO = numbers((0, 2))
NO_EXTENT = Buffer(buffer(()).ref, (None,), None, item=32)
NO_VIEW = Buffer(NO_EXTENT.ref, (None,), None, buffer((2,)), view=True, offset=ZERO, item=32)
WINDOW_OF_NOTHING = buffer((2,), source=NO_VIEW, starts=(ZERO,))


@pytest.mark.parametrize(
    ("one", "indices", "why"),
    [
        (buffer((2, 2)), (ZERO, None), "its index of axis 1 is"),
        (buffer((2, 2)), (None, ZERO), "its index of axis 0 is"),
        (Buffer(NO_EXTENT.ref, (TWO, None), None), (ZERO, ZERO), "extent 1 of its buffer is"),
        (buffer((2,), source=buffer((2,)), starts=(None,)), (ZERO,), "begins at a place"),
        (
            buffer((2,), source=buffer((2,), source=buffer((2,)), starts=(None,)), starts=(ZERO,)),
            (ZERO,),
            "begins at a place",
        ),
        (buffer((2,), source=buffer((2,)), view=True, offset=ZERO, strides=(None,)), (ZERO,), "begins at a"),
        (buffer((2,), source=buffer((2,)), view=True), (ZERO,), "begins at a place"),
        (buffer((2,), 0, source=buffer((2,)), view=True, offset=ZERO), (ZERO,), "begins at a place"),
        (buffer((2,), source=buffer((2,), 0), view=True, offset=ZERO), (ZERO,), "begins at a place"),
        (WINDOW_OF_NOTHING, (ZERO,), "begins at a place"),
        (buffer((2,), source=NO_EXTENT, view=True, offset=ZERO), (ZERO,), "begins at a place"),
        (buffer((2,), source=buffer((2,)), view=True, offset=ZERO), (ZERO,), ""),
        (buffer((2,), source=buffer((2,)), starts=(TWO,)), (ZERO,), ""),
    ],
)
def test_why_an_access_cannot_be_read(one: Buffer, indices: tuple[Poly | None, ...], why: str) -> None:
    found = layouts.unreadable(one, indices)
    assert found.startswith(why) or why in found
    assert bool(found) is bool(why)


@pytest.mark.parametrize(
    ("one", "known"),
    [
        (buffer((2, 3)), True),
        (Buffer(buffer((2,)).ref, (TWO, None), None, item=8), False),
        (buffer((2, 3), strides=(TWO, None)), False),
        (buffer((2, 3), strides=(None, TWO)), False),
        (buffer((2, 3), 0), False),
    ],
)
def test_memory_of_unknown_size_is_left_by_nothing(one: Buffer, known: bool) -> None:
    assert bool(list(layouts.memory_claims(one, (ZERO, ZERO)))) is known
    if one.item:
        assert (layouts.position_of(one, (ZERO, ZERO)) is not None) is known
    if one.strides:
        # Of memory of its own it is never shown.
        assert said(layouts.layout_claims(one, (ZERO, ZERO))) == Counter({(None, False): 1})


@pytest.mark.parametrize("items", [(0, 8), (8, 0)])
def test_of_elements_without_a_size_only_the_axes_are_known(items: tuple[int, int]) -> None:
    own, item = items
    one = buffer((2,), item, source=buffer((2,), own), view=True, offset=TWO)
    assert [axis for axis, _, _ in layouts.outside_claims(one, (ZERO,))] == [0, 0]
    assert not list(layouts.memory_claims(one, (ZERO,)))
    assert not list(layouts.position_claims(one, ZERO))


def test_a_window_that_begins_nobody_knows_where_has_its_own_axes_only() -> None:
    source = buffer((2, 2), strides=(TWO, TWO))
    one = buffer((2, 2), source=source, starts=(ZERO, None))
    assert len(list(layouts.outside_claims(one, (ZERO, ZERO)))) == 4
    assert not list(layouts.layout_claims(one, (ZERO, ZERO)))
    assert not list(layouts.memory_claims(one, (ZERO, ZERO)))
    assert layouts.start_of(one) is None


def test_of_memory_with_gaps_no_position_is_known_to_be_outside() -> None:
    assert not list(layouts.position_claims(buffer((2,), is_compact=False), constant(9)))


@pytest.mark.parametrize(
    ("one", "ends", "leading"),
    [
        (buffer((2, 3)), [(0, False)], True),
        (buffer((2, 3)), [(0, True), (None, False)], True),
        (buffer((2, 3)), [(1, False)], False),
        (buffer((2, 3)), [(0, False), (1, True)], False),
        (buffer((2, 3), strides=numbers((3, 1))), [(0, False)], False),
        (buffer((2, 3), strides=numbers((3, 1))), [(None, False)], True),
        (buffer((2, 3), offset=TWO), [(0, True)], False),
        (buffer((2, 3), source=buffer((4, 3)), starts=numbers((0, 0))), [(0, False)], False),
        # What is allocated may begin further down.
        (buffer((2, 3), may_move=True), [(0, False)], False),
        (buffer((2, 3), may_move=True), [(0, True)], True),
        (buffer((2, 3), may_move=True), [(0, True), (0, False)], False),
    ],
)
def test_to_leave_the_first_axis_is_to_leave_the_memory(
    one: Buffer, ends: list[tuple[int | None, bool]], leading: bool
) -> None:
    assert layouts.is_leading(one, ends) is leading


@pytest.mark.parametrize(
    ("own", "item", "begin", "counted"),
    [
        *((32, 32, 3, 3), (32, 16, 3, 6), (32, 8, 3, 12), (16, 32, 3, None), (24, 16, 3, None)),
        *((16, 32, 0, 0), (32, 0, 3, None), (0, 32, 0, 0), (0, 0, 3, 3)),
    ],
)
def test_a_place_in_memory_is_counted_in_other_elements(
    own: int, item: int, begin: int, counted: int | None
) -> None:
    found = MemoryPointer(buffer((2,), own), constant(begin)).counted(item)
    assert found == (None if counted is None else constant(counted))
    assert MemoryPointer(buffer((2,), own), None).counted(item) is None


@pytest.mark.parametrize(
    ("value", "wraps"), [(2**31 - 1, []), (2**31, [False]), (-(2**31), []), (-(2**31) - 1, [True])]
)
def test_32_bits_hold_what_they_hold(value: int, wraps: list[bool]) -> None:
    found = layouts.narrow_claims([constant(value)])
    assert [below for axis, below, claim in found if axis is None and claim.constant >= 0] == wraps
    assert len(found) == 2


@pytest.mark.parametrize(
    ("learned", "expected"),
    [
        (None, (-8, 7)),
        ((1.0, 3.0), (1, 3)),
        ((float("-inf"), 3.0), (-8, 3)),
        ((0.0, float("inf")), (0, 7)),
        ((0.0, 0.0), (0, 0)),
    ],
)
def test_a_range_is_narrowed_by_what_was_learned(
    learned: tuple[float, float] | None, expected: tuple[int, int]
) -> None:
    assert layouts.narrowed((-8, 7), learned) == expected
