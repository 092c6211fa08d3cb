"""Modules to inject faults into: right as they are, small, and with inputs whose answers show a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.bugs.bug import written_out
from relax_lint.replay.modules import load_module

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
function main(x: f32[8, 4], w: f32[4, 16]) -> f32[8, 16]:
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
function main(x: f32[6, 10], y: f32[6, 10]) -> f32[10, 10]:
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
function main(x: f32[n, 4]) -> f32[n, 4]:
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
function main(c: b1[], x: f32[8, 4], w: f32[4, 4]) -> f32[8, 4]:
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


def victims(layers: int) -> Iterator[Victim]:
    """All of them; a transformer of `layers` layers last, none for 0."""
    rng = np.random.default_rng(1)

    def random(*shape: int) -> Any:
        return rng.standard_normal(shape).astype("float32") / 4

    def small(name: str, body: str, *inputs: tuple[Any, ...]) -> Victim:
        return Victim(name, load_module(written_out(body), "script"), "main", inputs)

    yield small("chain", CHAIN, (random(8, 4), random(4, 16)))
    yield small("reduce", REDUCE, (random(6, 10), random(6, 10)))
    yield small("symbolic", SYMBOLIC, *((random(n, 4),) for n in (1, 5, 64)))
    x, w = random(8, 4), random(4, 4)
    yield small("branches", BRANCHES, (np.array(True), x, w), (np.array(False), x, w))
    if layers:
        from tests.programs import transformer

        module = transformer.exported(layers, bounded=False)
        name = module.get_global_var("forward")
        module[name] = module[name].with_attr("tir_var_upper_bound", {"n": CONTEXT})
        weights = [random(*(int(d) for d in p.ty.shape.values)) for p in module["forward"].params[1:]]
        tokens = (np.arange(CONTEXT, dtype="int32") * 7 % transformer.VOCABULARY).reshape(1, CONTEXT)
        inputs = tuple((tokens[:, :n].copy(), *weights) for n in (5, CONTEXT))
        yield Victim("transformer", module, "forward", inputs)
