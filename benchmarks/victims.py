"""Modules to inject faults into: right as they are, small, and with inputs whose answers show a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Any

import numpy as np

from benchmarks.bugs.bug import HEADER

CONTEXT = 32
"""The declared bound of the transformer's length, in tokens: small, so that it can be reached."""


@dataclass(frozen=True)
class Victim:
    """A module as it is written, its function, and sets of inputs, all of which are run."""

    name: str
    module: Any
    entry: str
    inputs: tuple[tuple[Any, ...], ...]


CHAIN = """
@R.function
def main(x: R.Tensor((8, 4), "float32"), w: R.Tensor((4, 16), "float32")) -> R.Tensor((8, 16), "float32"):
    a = R.add(x, x)
    b = R.matmul(a, w)
    d = R.exp(b)
    e = R.multiply(d, b)
    f = R.concat((d, e), axis=1)
    g = R.sum(f, axis=1)
    h = R.reshape(g, (8, 1))
    i = R.add(h, e)
    j = R.subtract(i, d)
    k = R.multiply(j, j)
    return k
"""
REDUCE = """
@R.function
def main(x: R.Tensor((6, 10), "float32"), y: R.Tensor((6, 10), "float32")) -> R.Tensor((10, 10), "float32"):
    a = R.subtract(x, y)
    b = R.permute_dims(a, (1, 0))
    d = R.matmul(b, a)
    e = R.nn.softmax(d, axis=-1)
    f = R.max(d, axis=1, keepdims=True)
    g = R.multiply(e, f)
    h = R.subtract(g, d)
    i = R.add(h, e)
    return i
"""
SYMBOLIC = """
@R.function
def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    n = T.int64()
    a = R.add(x, x)
    b = R.exp(a)
    d = R.reshape(b, (n * 4,))
    e = R.multiply(d, d)
    f = R.reshape(e, (n, 4))
    g = R.subtract(f, a)
    h = R.divide(g, b)
    i = R.add(h, f)
    return i
"""
BRANCHES = """
@R.function
def main(
    c: R.Tensor((), "bool"), x: R.Tensor((8, 4), "float32"), w: R.Tensor((4, 4), "float32")
) -> R.Tensor((8, 4), "float32"):
    p = R.add(x, x)
    q = R.exp(p)
    if c:
        y = R.matmul(p, w)
    else:
        y = R.matmul(q, w)
    a = R.multiply(y, q)
    b = R.subtract(a, p)
    d = R.exp(b)
    return d
"""


def _module(body: str) -> Any:
    from relax_lint.replay.modules import load_module

    return load_module(HEADER + indent(dedent(body).strip("\n"), "    ") + "\n", "script")


def _random(rng: Any, *shape: int) -> Any:
    return rng.standard_normal(shape).astype("float32") / 4


def victims(layers: int) -> Iterator[Victim]:
    """All of them; a transformer of `layers` layers last, none for 0."""
    rng = np.random.default_rng(1)
    yield Victim("chain", _module(CHAIN), "main", ((_random(rng, 8, 4), _random(rng, 4, 16)),))
    yield Victim("reduce", _module(REDUCE), "main", ((_random(rng, 6, 10), _random(rng, 6, 10)),))
    yield Victim("symbolic", _module(SYMBOLIC), "main", tuple((_random(rng, n, 4),) for n in (1, 5, 64)))
    x, w = _random(rng, 8, 4), _random(rng, 4, 4)
    yield Victim("branches", _module(BRANCHES), "main", ((np.array(True), x, w), (np.array(False), x, w)))
    if layers:
        from tests.programs import transformer

        module = transformer.exported(layers, bounded=False)
        name = module.get_global_var("forward")
        module[name] = module[name].with_attr("tir_var_upper_bound", {"n": CONTEXT})
        weights = [_random(rng, *(int(d) for d in p.ty.shape.values)) for p in module["forward"].params[1:]]
        tokens = (np.arange(CONTEXT, dtype="int32") * 7 % transformer.VOCABULARY).reshape(1, CONTEXT)
        inputs = tuple((tokens[:, :n].copy(), *weights) for n in (5, CONTEXT))
        yield Victim("transformer", module, "forward", inputs)
