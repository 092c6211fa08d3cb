"""Operators that sort, scan, choose and scatter."""

from __future__ import annotations

from random import Random

from tools.hunt.operators.base import Choice, Values, extents, floats, of, one_of, static, tensors
from tools.hunt.program import Pair, Tensor


@one_of(floats)
def opaque(values: Values, random: Random, name: str) -> Choice:
    """An operator that is not fused."""
    axis = random.randrange(len(of(values, name).shape))
    which = random.choice(("cumsum", "cumprod", "sort", "nn.softmax", "nn.log_softmax"))
    return f"R.{which}({{0}}, axis={axis})", (name,), values[name]


@one_of(floats)
def indices(values: Values, random: Random, name: str) -> Choice:
    """Numbers of elements."""
    shape = of(values, name).shape
    return (
        f'R.argsort({{0}}, axis={random.randrange(len(shape))}, dtype="int32")',
        (name,),
        Tensor(shape, "int32"),
    )


@one_of(lambda values: [name for name in static(values) if of(values, name).shape[-1] == 4])
def take(values: Values, random: Random, name: str) -> Choice:
    """Elements by constant indices."""
    axis = len(of(values, name).shape) - 1
    return f'R.take({{0}}, R.const([1, 0, 3, 2], "int32"), axis={axis})', (name,), values[name]


def gather(values: Values, random: Random) -> Choice:
    """Elements by computed indices."""
    found = tensors(values, lambda kind: kind.dtype == "int32")
    pairs = [
        (name, index)
        for index in found
        for name in static(values)
        if of(values, name).shape == of(values, index).shape
    ]
    if not pairs:
        return None
    name, index = random.choice(pairs)
    axis = len(of(values, name).shape) - 1
    last = extents(values, name)[axis] - 1
    clipped = f'R.maximum(R.minimum({{1}}, R.const({last}, "int32")), R.const(0, "int32"))'
    return f"R.gather_elements({{0}}, {clipped}, axis={axis})", (name, index), values[name]


@one_of(lambda values: [name for name in static(values) if extents(values, name)[-1] >= 2])
def largest(values: Values, random: Random, name: str) -> Choice:
    """The largest elements and where they are."""
    shape = extents(values, name)
    kept = Tensor((*shape[:-1], 2))
    indices = Tensor(kept.shape, "int32")
    return 'R.topk({0}, k=2, axis=-1, ret_type="both", dtype="int32")', (name,), Pair((kept, indices))


@one_of(lambda values: [name for name in static(values, 2) if extents(values, name)[-1] == 4])
def counted(values: Values, random: Random, name: str) -> Choice:
    """Numbers of elements as a value of their own."""
    shape = extents(values, name)[:-1]
    which = random.choice(("argmax", "argmin"))
    if random.random() < 0.5:
        return f'R.astype(R.{which}({{0}}, axis=-1), "int32")', (name,), Tensor(shape, "int32")
    inner = f"R.{which}({{0}}, axis=-1)"
    ones = "R.prim_value(T.float32(1)), R.prim_value(T.float32(0))"
    return f"R.one_hot({inner}, {ones}, 4)", (name,), Tensor((*shape, 4))


@one_of(lambda values: [name for name in static(values) if extents(values, name)[0] == 4])
def scattered(values: Values, random: Random, name: str) -> Choice:
    """A tensor with some rows from elsewhere."""
    kind, rest = of(values, name), extents(values, name)[1:]
    fits = [other for other in static(values) if extents(values, other)[1:] == rest]
    fits = [other for other in fits if extents(values, other)[0] == 2]
    if not fits:
        template = 'R.take({0}, R.const([3, 1], "int32"), axis=0)'
        return template, (name,), Tensor((2, *rest))
    other = random.choice(fits)
    template = random.choice(
        (
            'R.scatter_nd({0}, R.const([[0], [2]], "int64"), {1})',
            "R.slice_scatter({0}, {1}, R.prim_value(1), R.prim_value(3), R.prim_value(1), axis=0)",
        )
    )
    return template, (name, other), kind


@one_of(lambda values: [name for name in static(values) if extents(values, name)[0] == 4])
def chosen(values: Values, random: Random, name: str) -> Choice:
    """Rows by constant indices."""
    rest = extents(values, name)[1:]
    template = random.choice(
        (
            'R.gather_nd({0}, R.const([[1], [2]], "int64"))',
            'R.index_tensor({0}, (R.const([1, 2], "int64"),))',
            "R.strided_slice({0}, axes=[0], begin=[3], end=[0], strides=[-2])",
        )
    )
    return template, (name,), Tensor((2, *rest))


def bucketed(values: Values, random: Random) -> Choice:
    """Where elements belong among sorted ones."""
    borders = [name for name in static(values) if len(of(values, name).shape) == 1]
    if not borders:
        return None
    name, border = random.choice(static(values)), random.choice(borders)
    template = "R.bucketize({0}, R.sort({1}), out_int32=True)"
    return template, (name, border), Tensor(of(values, name).shape, "int32")
