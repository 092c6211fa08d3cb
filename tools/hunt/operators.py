"""The statements that a random program is made of, each with the types that it needs and gives."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from tools.hunt.program import Pair, Tensor, Type, kernel_name

Choice: TypeAlias = "tuple[str, tuple[str, ...], Type] | None"
"""A template, its operands and the type of the result; None where no value fits."""
Values: TypeAlias = "dict[str, Type]"

UNARY = ("tanh", "sigmoid", "negative", "abs", "nn.relu", "nn.silu", "floor", "square")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
VIEWS = frozenset({"view", "field", "pair", "split", "zero_offset"})
"""Kinds whose result may share the memory of an operand."""


def tensors(values: Values, fits: Callable[[Tensor], bool] = lambda _: True) -> list[str]:
    """The names of the tensors that fit."""
    return [name for name, kind in values.items() if isinstance(kind, Tensor) and fits(kind)]


def _floats(values: Values, rank: int = 1) -> list[str]:
    return tensors(values, lambda kind: kind.dtype == "float32" and len(kind.shape) >= rank)


def _static(values: Values, rank: int = 1) -> list[str]:
    return [
        name for name in _floats(values, rank) if all(isinstance(e, int) for e in _of(values, name).shape)
    ]


def _of(values: Values, name: str) -> Tensor:
    kind = values[name]
    assert isinstance(kind, Tensor)
    return kind


def unary(values: Values, random: Random) -> Choice:
    """An elementwise operator with one operand."""
    found = _floats(values)
    if not found:
        return None
    name = random.choice(found)
    return f"R.{random.choice(UNARY)}({{0}})", (name,), values[name]


def binary(values: Values, random: Random) -> Choice:
    """An elementwise operator with two operands of one type, which may be the same."""
    found = _floats(values)
    if not found:
        return None
    one = random.choice(found)
    other = random.choice([name for name in found if values[name] == values[one]])
    return f"R.{random.choice(BINARY)}({{0}}, {{1}})", (one, other), values[one]


def scalar(values: Values, random: Random) -> Choice:
    """An operator with a constant."""
    found = _floats(values)
    if not found:
        return None
    name = random.choice(found)
    number = random.choice((0.5, 1.0, 2.0))
    return f'R.{random.choice(BINARY)}({{0}}, R.const({number}, "float32"))', (name,), values[name]


def select(values: Values, random: Random) -> Choice:
    """A comparison and a choice of elements."""
    found = _floats(values)
    if not found:
        return None
    one = random.choice(found)
    other = random.choice([name for name in found if values[name] == values[one]])
    return "R.where(R.greater({0}, {1}), {0}, {1})", (one, other), values[one]


def new(values: Values, random: Random) -> Choice:
    """A tensor that no operand goes into: zeros, ones, or a constant."""
    shape = random.choice(((4,), (4, 4), (2, 8)))
    if random.random() < 0.3:
        return 'R.const([1.0, 2.0, 3.0, 4.0], "float32")', (), Tensor((4,))
    return f'R.{random.choice(("zeros", "ones"))}({shape}, "float32")', (), Tensor(shape)


def reduction(values: Values, random: Random) -> Choice:
    """A sum or an extreme value along an axis that is kept."""
    found = _floats(values)
    if not found:
        return None
    name = random.choice(found)
    shape = _of(values, name).shape
    axis = random.randrange(len(shape))
    kept = (*shape[:axis], 1, *shape[axis + 1 :])
    which = random.choice(("sum", "mean", "max", "min"))
    return f"R.{which}({{0}}, axis={axis}, keepdims=True)", (name,), Tensor(kept)


def opaque(values: Values, random: Random) -> Choice:
    """An operator that is not fused."""
    found = _floats(values)
    if not found:
        return None
    name = random.choice(found)
    axis = random.randrange(len(_of(values, name).shape))
    which = random.choice(("cumsum", "sort", "nn.softmax"))
    return f"R.{which}({{0}}, axis={axis})", (name,), values[name]


def indices(values: Values, random: Random) -> Choice:
    """Numbers of elements."""
    found = _floats(values)
    if not found:
        return None
    name = random.choice(found)
    shape = _of(values, name).shape
    return (
        f'R.argsort({{0}}, axis={random.randrange(len(shape))}, dtype="int32")',
        (name,),
        Tensor(shape, "int32"),
    )


def take(values: Values, random: Random) -> Choice:
    """Elements by constant indices."""
    found = [name for name in _static(values) if _of(values, name).shape[-1] == 4]
    if not found:
        return None
    name = random.choice(found)
    axis = len(_of(values, name).shape) - 1
    return f'R.take({{0}}, R.const([1, 0, 3, 2], "int32"), axis={axis})', (name,), values[name]


def gather(values: Values, random: Random) -> Choice:
    """Elements by computed indices."""
    found = tensors(values, lambda kind: kind.dtype == "int32")
    pairs = [
        (name, index)
        for index in found
        for name in _static(values)
        if _of(values, name).shape == _of(values, index).shape
    ]
    if not pairs:
        return None
    name, index = random.choice(pairs)
    axis = len(_of(values, name).shape) - 1
    if random.random() < 0.5 and axis == 0:
        return f"R.scatter_elements({{0}}, {{1}}, {{0}}, axis={axis})", (name, index), values[name]
    clipped = f'R.minimum({{1}}, R.const({_of(values, name).shape[axis]!s} - 1, "int32"))'
    clipped = clipped.replace(
        f"{_of(values, name).shape[axis]} - 1", str(int(_of(values, name).shape[axis]) - 1)
    )
    return f"R.gather_elements({{0}}, {clipped}, axis={axis})", (name, index), values[name]


def matmul(values: Values, random: Random) -> Choice:
    """A product of matrices."""
    found = [name for name in _floats(values, 2) if len(_of(values, name).shape) == 2]
    pairs = [(a, b) for a in found for b in found if _of(values, a).shape[1] == _of(values, b).shape[0]]
    if not pairs:
        return None
    one, other = random.choice(pairs)
    return (
        "R.matmul({0}, {1})",
        (one, other),
        Tensor((_of(values, one).shape[0], _of(values, other).shape[1])),
    )


def transposed(values: Values, random: Random) -> Choice:
    """A matrix with its axes exchanged."""
    found = [name for name in _floats(values, 2) if len(_of(values, name).shape) == 2]
    if not found:
        return None
    name = random.choice(found)
    return "R.permute_dims({0})", (name,), Tensor(tuple(reversed(_of(values, name).shape)))


def view(values: Values, random: Random) -> Choice:
    """The same elements in another shape."""
    found = _static(values)
    if not found:
        return None
    name = random.choice(found)
    shape = tuple(int(extent) for extent in _of(values, name).shape)
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


def same_shape(values: Values, random: Random) -> Choice:
    """An operator that only copies, as it happens."""
    found = _static(values)
    if not found:
        return None
    name = random.choice(found)
    kind = _of(values, name)
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


def zero_offset(values: Values, random: Random) -> Choice:
    """The operator before kernels that need an offset of zero."""
    found = _floats(values)
    if not found:
        return None
    name = random.choice(found)
    return "R.memory.ensure_zero_offset({0})", (name,), values[name]


def joined(values: Values, random: Random) -> Choice:
    """Two tensors behind each other."""
    found = _floats(values)
    if not found:
        return None
    one = random.choice(found)
    other = random.choice([name for name in found if values[name] == values[one]])
    shape = _of(values, one).shape
    axis = len(shape) - 1
    extent = shape[axis]
    if not isinstance(extent, int) or extent > 16:
        return None
    longer = (*shape[:axis], extent * 2)
    return f"R.concat(({{0}}, {{1}}), axis={axis})", (one, other), Tensor(longer)


def sliced(values: Values, random: Random) -> Choice:
    """A part of a tensor; the bounds may be known at run time only."""
    found = [name for name in _static(values) if int(_of(values, name).shape[0]) >= 2]
    if not found:
        return None
    name = random.choice(found)
    shape = _of(values, name).shape
    half = int(shape[0]) // 2
    template = f"R.strided_slice({{0}}, axes=[0], begin=[{half}], end=[{2 * half}])"
    return template, (name,), Tensor((half, *shape[1:]))


def padded(values: Values, random: Random) -> Choice:
    """A vector with a margin."""
    found = [name for name in _static(values) if len(_of(values, name).shape) == 1]
    if not found:
        return None
    name = random.choice(found)
    extent = int(_of(values, name).shape[0])
    return "R.nn.pad({0}, pad_width=[1, 1])", (name,), Tensor((extent + 2,))


def split(values: Values, random: Random) -> Choice:
    """A tuple of two halves."""
    found = [name for name in _static(values) if int(_of(values, name).shape[-1]) % 2 == 0]
    if not found:
        return None
    name = random.choice(found)
    shape = _of(values, name).shape
    half = Tensor((*shape[:-1], int(shape[-1]) // 2))
    return f"R.split({{0}}, 2, axis={len(shape) - 1})", (name,), Pair((half, half))


def pair(values: Values, random: Random) -> Choice:
    """A tuple of two tensors."""
    found = _floats(values)
    if not found:
        return None
    one, other = random.choice(found), random.choice(found)
    return "({0}, {1})", (one, other), Pair((_of(values, one), _of(values, other)))


def field(values: Values, random: Random) -> Choice:
    """A field of a tuple."""
    found = [(name, kind) for name, kind in values.items() if isinstance(kind, Pair)]
    if not found:
        return None
    name, kind = random.choice(found)
    index = random.randrange(len(kind.fields))
    return f"{{0}}[{index}]", (name,), kind.fields[index]


def narrowed(values: Values, random: Random) -> Choice:
    """A float16, int8 or quantised tensor and back."""
    found = _floats(values)
    if not found:
        return None
    name = random.choice(found)
    if random.random() < 0.3:
        scale, zero = 'R.const(0.5, "float32")', 'R.const(1, "int8")'
        quantised = f'R.quantize({{0}}, {scale}, {zero}, axis=0, out_dtype="int8")'
        return (
            f'R.dequantize({quantised}, {scale}, {zero}, axis=0, out_dtype="float32")',
            (name,),
            values[name],
        )
    dtype = random.choice(("float16", "int32", "bool"))
    return f'R.astype(R.astype({{0}}, "{dtype}"), "float32")', (name,), values[name]


def packed(values: Values, random: Random) -> Choice:
    """A packed function, pure or with its output as an argument."""
    found = _floats(values)
    if not found:
        return None
    name = random.choice(found)
    if random.random() < 0.5:
        return f'R.call_dps_packed("hunt.into", ({{0}},), out_ty={values[name]})', (name,), values[name]
    return f'R.call_pure_packed("hunt.twice", {{0}}, ty_args={values[name]})', (name,), values[name]


def normed(values: Values, random: Random) -> Choice:
    """Layer normalisation."""
    found = [name for name in _static(values) if _of(values, name).shape[-1] == 4]
    if not found:
        return None
    name = random.choice(found)
    ones, zeros = 'R.const([1.0, 1.0, 1.0, 1.0], "float32")', 'R.const([0.0, 0.0, 0.0, 0.0], "float32")'
    return f"R.nn.layer_norm({{0}}, {ones}, {zeros}, axes=[-1])", (name,), values[name]


def increment_template(tensor: Tensor) -> str:
    """An in-place call of a kernel of the module."""
    return f"R.call_tir_inplace(cls.{kernel_name(tensor)}, ({{0}},), inplace_indices=[0], out_ty={tensor})"


def packed_increment_template(tensor: Tensor) -> str:
    """An in-place call of a packed function."""
    return f'R.call_inplace_packed("hunt.increment", {{0}}, inplace_indices=[0], ty_args={tensor})'


FAMILIES: tuple[tuple[float, str, Callable[[Values, Random], Choice]], ...] = (
    (3.0, "unary", unary),
    (4.0, "binary", binary),
    (1.5, "scalar", scalar),
    (0.7, "select", select),
    (2.5, "new", new),
    (1.0, "reduction", reduction),
    (2.5, "opaque", opaque),
    (0.5, "indices", indices),
    (0.6, "take", take),
    (0.6, "gather", gather),
    (1.5, "matmul", matmul),
    (1.0, "transposed", transposed),
    (1.5, "view", view),
    (1.2, "same_shape", same_shape),
    (0.2, "zero_offset", zero_offset),
    (1.2, "joined", joined),
    (0.8, "sliced", sliced),
    (0.4, "padded", padded),
    (0.8, "split", split),
    (1.2, "pair", pair),
    (2.0, "field", field),
    (0.5, "narrowed", narrowed),
    (0.6, "packed", packed),
    (0.4, "normed", normed),
)
"""How often a family is tried, its name, and what it makes."""
