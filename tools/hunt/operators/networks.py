"""Products of matrices, and what networks are made of."""

from __future__ import annotations

from random import Random

from tools.hunt.operators.base import Choice, Values, another, extents, floats, of, one_of, static
from tools.hunt.program import Pair, Tensor


def matmul(values: Values, random: Random) -> Choice:
    """A product of matrices."""
    found = [name for name in floats(values, 2) if len(of(values, name).shape) == 2]
    pairs = [(a, b) for a in found for b in found if of(values, a).shape[1] == of(values, b).shape[0]]
    if not pairs:
        return None
    one, other = random.choice(pairs)
    return (
        "R.matmul({0}, {1})",
        (one, other),
        Tensor((of(values, one).shape[0], of(values, other).shape[1])),
    )


@one_of(lambda values: [name for name in static(values) if of(values, name).shape[-1] == 4])
def normed(values: Values, random: Random, name: str) -> Choice:
    """Layer normalisation."""
    ones, zeros = 'R.const([1.0, 1.0, 1.0, 1.0], "float32")', 'R.const([0.0, 0.0, 0.0, 0.0], "float32")'
    return f"R.nn.layer_norm({{0}}, {ones}, {zeros}, axes=[-1])", (name,), values[name]


def transposed_matmul(values: Values, random: Random) -> Choice:
    """A product with a matrix whose axes are exchanged, or one with a bias, as layers have."""
    found = [name for name in static(values, 2) if extents(values, name) == (4, 4)]
    vectors = [name for name in static(values) if extents(values, name) == (4,)]
    if not found:
        return None
    one, other = random.choice(found), random.choice(found)
    if vectors and random.random() < 0.5:
        return "R.linear({0}, {1}, {2})", (one, other, random.choice(vectors)), values[one]
    if random.random() < 0.3:
        return 'R.einsum(({0}, {1}), subscripts="ij,kj->ik")', (one, other), values[one]
    return "R.matmul({0}, R.permute_dims({1}))", (one, other), values[one]


def product_of_sum(values: Values, random: Random) -> Choice:
    """Products that passes write in another way: of a sum, of taken rows, of a product."""
    found = [name for name in static(values, 2) if extents(values, name) == (4, 4)]
    if not found:
        return None
    a, b, c = (random.choice(found) for _ in range(3))
    template = random.choice(
        (
            "R.matmul({0}, R.add({1}, {2}))",
            "R.matmul(R.matmul({0}, {1}), {2})",
            'R.matmul({0}, R.take({1}, R.const([1, 0, 3, 2], "int32"), axis=1))',
            "R.permute_dims(R.concat((R.permute_dims({0}), R.permute_dims({1})), axis=0))",
        )
    )
    if template.startswith("R.permute_dims"):
        return template, (a, b), Tensor((4, 8))
    return (template, (a, b, c), values[a]) if "{2}" in template else (template, (a, b), values[a])


@one_of(lambda values: [name for name in static(values, 2) if extents(values, name) == (4, 4)])
def layers(values: Values, random: Random, name: str) -> Choice:
    """Convolution, pooling, attention and batch normalisation of a square."""
    other = another(values, random, name)
    picture = "R.reshape({0}, R.shape([1, 1, 4, 4]))"
    heads = "R.reshape({%d}, R.shape([1, 4, 1, 4]))"
    template, kind = random.choice(
        (
            (
                f'R.nn.conv2d({picture}, R.ones((1, 1, 3, 3), "float32"), padding=(1, 1))',
                Tensor((1, 1, 4, 4)),
            ),
            (f"R.nn.max_pool2d({picture}, pool_size=(2, 2), strides=(2, 2))", Tensor((1, 1, 2, 2))),
            (f"R.nn.avg_pool2d({picture}, pool_size=(2, 2), strides=(1, 1))", Tensor((1, 1, 3, 3))),
            (f"R.nn.attention({heads % 0}, {heads % 1}, {heads % 0})", Tensor((1, 4, 1, 4))),
            ('R.nn.rms_norm({0}, R.ones((4,), "float32"), axes=[-1])', Tensor((4, 4))),
            ("R.nn.dropout({0}, 0.5)[0]", Tensor((4, 4))),
            (f'R.image.resize2d({picture}, (2, 8), layout="NCHW")', Tensor((1, 1, 2, 8))),
        )
    )
    return template, (name, other) if "{1}" in template else (name,), kind


@one_of(lambda values: [name for name in static(values, 2) if extents(values, name) == (4, 4)])
def batch_normed(values: Values, random: Random, name: str) -> Choice:
    """Batch normalisation, which gives three tensors."""
    ones = 'R.ones((4,), "float32")'
    vector = Tensor((4,))
    template = f"R.nn.batch_norm({{0}}, {ones}, {ones}, {ones}, {ones}, axis=1)"
    return template, (name,), Pair((Tensor((4, 4)), vector, vector))
