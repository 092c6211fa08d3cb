"""Operators that move elements, views and tuples."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from random import Random

from tools.hunt.operators.base import Choice, Values, another, extents, floats, of, one_of, static
from tools.hunt.program import Pair, Tensor


@one_of(lambda values: [name for name in floats(values, 2) if len(of(values, name).shape) == 2])
def transposed(values: Values, random: Random, name: str) -> Choice:
    """A matrix with its axes exchanged."""
    return "R.permute_dims({0})", (name,), Tensor(tuple(reversed(of(values, name).shape)))


@one_of(static)
def view(values: Values, random: Random, name: str) -> Choice:
    """The same elements in another shape."""
    shape = tuple(int(extent) for extent in of(values, name).shape)
    count = 1
    for extent in shape:
        count *= extent
    if random.random() < 0.3:
        return "R.expand_dims({0}, axis=0)", (name,), Tensor((1, *shape))
    if random.random() < 0.4:
        return "R.flatten({0})", (name,), Tensor((count,))
    other = (count // 2, 2) if count % 2 == 0 else (count, 1)
    return (
        f"R.{random.choice(('reshape', 'memory.view'))}({{0}}, R.shape({list(other)}))",
        (name,),
        Tensor(other),
    )


@one_of(static)
def same_shape(values: Values, random: Random, name: str) -> Choice:
    """An operator that only copies, as it happens."""
    kind = of(values, name)
    shape = tuple(kind.shape)
    template = random.choice(
        (
            f"R.broadcast_to({{0}}, {shape})",
            "R.concat(({0},), axis=0)",
            f"R.tile({{0}}, {tuple(1 for _ in shape)})",
            "R.repeat({0}, 1, axis=0)",
            'R.astype({0}, "float32")',
            f"R.strided_slice({{0}}, axes=[0], begin=[0], end=[{shape[0]}])",
        )
    )
    return template, (name,), kind


@one_of(floats)
def zero_offset(values: Values, random: Random, name: str) -> Choice:
    """The operator before kernels that need an offset of zero."""
    return "R.memory.ensure_zero_offset({0})", (name,), values[name]


@one_of(floats)
def joined(values: Values, random: Random, one: str) -> Choice:
    """Two tensors behind each other."""
    other = another(values, random, one)
    shape = of(values, one).shape
    axis = len(shape) - 1
    extent = shape[axis]
    if not isinstance(extent, int) or extent > 16:
        return None
    longer = (*shape[:axis], extent * 2)
    return f"R.concat(({{0}}, {{1}}), axis={axis})", (one, other), Tensor(longer)


@one_of(lambda values: [name for name in static(values) if int(of(values, name).shape[0]) >= 2])
def sliced(values: Values, random: Random, name: str) -> Choice:
    """A part of a tensor; the bounds may be known at run time only."""
    shape = of(values, name).shape
    half = int(shape[0]) // 2
    template = f"R.strided_slice({{0}}, axes=[0], begin=[{half}], end=[{2 * half}])"
    return template, (name,), Tensor((half, *shape[1:]))


@one_of(lambda values: [name for name in static(values) if len(of(values, name).shape) == 1])
def padded(values: Values, random: Random, name: str) -> Choice:
    """A vector with a margin."""
    extent = int(of(values, name).shape[0])
    return "R.nn.pad({0}, pad_width=[1, 1])", (name,), Tensor((extent + 2,))


@one_of(lambda values: [name for name in static(values) if int(of(values, name).shape[-1]) % 2 == 0])
def split(values: Values, random: Random, name: str) -> Choice:
    """A tuple of two halves."""
    shape = of(values, name).shape
    half = Tensor((*shape[:-1], int(shape[-1]) // 2))
    return f"R.split({{0}}, 2, axis={len(shape) - 1})", (name,), Pair((half, half))


def pair(values: Values, random: Random) -> Choice:
    """A tuple of two tensors."""
    found = floats(values)
    if not found:
        return None
    one, other = random.choice(found), random.choice(found)
    return "({0}, {1})", (one, other), Pair((of(values, one), of(values, other)))


def field(values: Values, random: Random) -> Choice:
    """A field of a tuple."""
    found = [(name, kind) for name, kind in values.items() if isinstance(kind, Pair)]
    if not found:
        return None
    name, kind = random.choice(found)
    index = random.randrange(len(kind.fields))
    return f"{{0}}[{index}]", (name,), kind.fields[index]


def symbolic(values: Values, random: Random) -> Choice:
    """Other shapes of a matrix with a symbolic number of rows."""
    found = [name for name in floats(values, 2) if len(of(values, name).shape) == 2]
    found = [name for name in found if isinstance(of(values, name).shape[0], str)]
    found = [name for name in found if isinstance(of(values, name).shape[1], int)]
    if not found:
        return None
    name = random.choice(found)
    rows, columns = of(values, name).shape
    if random.random() < 0.3 and "*" not in str(rows):
        kind = Tensor((f"{rows} * 2", columns))
        return "R.concat(({0}, {0}), axis=0)", (name,), kind
    if random.random() < 0.4:
        kind = Tensor((1, rows, columns))
        return f"R.reshape({{0}}, R.shape([1, {rows}, {columns}]))", (name,), kind
    flat = Tensor((f"{rows} * {columns}",))
    if random.random() < 0.5:
        return f"R.memory.view({{0}}, R.shape([{flat.shape[0]}]))", (name,), flat
    return f"R.reshape({{0}}, R.shape([{flat.shape[0]}]))", (name,), flat


@one_of(lambda values: [name for name in static(values) if extents(values, name)[0] % 2 == 0])
def offset_view(values: Values, random: Random, name: str) -> Choice:
    """The second half of the elements, where they are, for kernels that need an offset of zero."""
    rows, *rest = extents(values, name)
    half = Tensor((rows // 2, *rest))
    offset = 4 * prod((rows // 2, *rest))
    inner = f'R.memory.view({{0}}, R.shape({list(half.shape)}), "float32", {offset})'
    return f"R.memory.ensure_zero_offset({inner})", (name,), half


@one_of(static)
def same_bytes(values: Values, random: Random, name: str) -> Choice:
    """The same bytes as integers."""
    return 'R.memory.view({0}, dtype="int32")', (name,), replace(of(values, name), dtype="int32")


@one_of(lambda values: static(values, 2))
def rearranged(values: Values, random: Random, name: str) -> Choice:
    """Elements in another order, or several tensors as one."""
    kind, shape = of(values, name), extents(values, name)
    chance = random.randrange(5)
    if chance == 0:
        return f"R.flip({{0}}, axis={random.randrange(len(shape))})", (name,), kind
    if chance == 1:
        return f"R.{random.choice(('tril', 'triu'))}({{0}})", (name,), kind
    if chance == 2:
        template = "R.layout_transform({0}, index_map=lambda i, j: (j, i))"
        return (template, (name,), Tensor(shape[::-1])) if len(shape) == 2 else None
    if chance == 3 and prod(shape) <= 64:
        return "R.stack(({0}, {1}), axis=0)", (name, another(values, random, name)), Tensor((2, *shape))
    return (
        ("R.squeeze({0}, axis=[0])", (name,), Tensor(shape[1:]))
        if shape[0] == 1
        else (f"R.repeat({{0}}, 2, axis={len(shape) - 1})", (name,), Tensor((*shape[:-1], 2 * shape[-1])))
    )


@one_of(lambda values: [name for name in static(values) if extents(values, name)[0] >= 4])
def parts(values: Values, random: Random, name: str) -> Choice:
    """A tuple of three unequal parts."""
    first, *rest = extents(values, name)
    fields = tuple(Tensor((rows, *rest)) for rows in (1, 2, first - 3))
    return "R.split({0}, [1, 3], axis=0)", (name,), Pair(fields)


def nested(values: Values, random: Random) -> Choice:
    """A grid of two vectors."""
    found = [name for name in static(values) if len(of(values, name).shape) == 1]
    found = [name for name in found if extents(values, name)[0] <= 8]
    if not found:
        return None
    name = random.choice(found)
    (count,) = extents(values, name)
    grid = Tensor((count, count))
    return "R.meshgrid(({0}, {1}))", (name, another(values, random, name)), Pair((grid, grid))
