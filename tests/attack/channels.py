"""Texts that reach for the world or for the end of the run by other ways than a name or an attribute."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.attack.trying import Attack

_HEAD = """\
import numpy as np
import pytest
import tvm
from tvm import relax, te, topi
from tvm.script import ir as I, relax as R, tirx as T
"""
_JUDGED = """
@I.ir_module
class Judged:
    @R.function
    def judged(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        return y
"""
_LONG = "0x" + "f" * 6000
_DIGITS = "1" * 5000


def module(*body: str, before: str = "", members: str = "") -> str:
    """A file of two modules: one is up to something, the other has to be judged all the same."""
    lines = "".join(f"        {line}\n" for line in body)
    return (
        f"{_HEAD}{before}\n@I.ir_module\nclass Module:\n{members}    @R.function\n"
        f'    def main(x: R.Tensor((4,), "float32")):\n{lines}        return x\n{_JUDGED}'
    )


def _inside(parameters: str, decorator: str = "") -> str:
    unit = module("y = R.const(N)").removeprefix(_HEAD)
    inner = "".join(f"    {line}\n" for line in unit.split("\n"))
    return f"{_HEAD}{decorator}def outer({parameters}):\n{inner}"


# What TVM detects about a target that says too little.
_TARGETS: Mapping[str, str] = {
    "rocm": '"rocm"',
    "rocm in a dictionary": '{"kind": "rocm"}',
    "rocm of a device": '{"kind": "rocm", "from_device": 0}',
    "cuda of a device": '{"kind": "cuda", "from_device": 0}',
    "vulkan of a device": '{"kind": "vulkan", "from_device": 0}',
    "host": '{"kind": "cuda", "host": {"kind": "rocm"}}',
    "options of llvm": '{"kind": "llvm", "cl-opt": ["-info-output-file=/CANARY/"]}',
}


def targets() -> list[Attack]:
    """Every target at every place that builds one."""
    found = []
    for name, target in _TARGETS.items():
        places = {
            "device": module(
                "y = x", members=f'    I.module_global_infos({{"vdevice": [I.vdevice({target})]}})\n'
            ),
            "attribute": module(f'R.func_attr({{"a": T.target({target})}})'),
            "value": module('R.func_attr({"a": N})', before=f"N = tvm.target.Target({target})"),
            "entered": module("with N:", "    y = x", before=f"N = tvm.target.Target({target})"),
        }
        found += [Attack(f"{name}-{place}", text.encode()) for place, text in places.items()]
    return [*found, Attack("saved", json.dumps(_SAVED).encode(), "json")]


# A device of which nothing but the kind is saved.
_SAVED = {
    "root_index": 8,
    "nodes": [
        {"type": "ffi.Map", "data": []},
        {"type": "target.TargetKind", "data": "rocm"},
        {"type": "ffi.String", "data": ""},
        {"type": "ffi.Array", "data": []},
        {"type": "None"},
        {"type": "target.Target", "data": {"kind": 1, "tag": 2, "keys": 3, "attrs": 0, "host": 4}},
        {"type": "ffi.String", "data": "a"},
        {"type": "ffi.Map", "data": [6, 5]},
        {"type": "ir.DictAttrs", "data": {"__dict__": 7}},
    ],
}

NUMBERS: Mapping[str, str] = {
    "of an unknown function": module("y = R.const(N)", before=f"N = f({_LONG})"),
    "of an array": module("y = R.const(N)", before=f"N = np.array({_LONG})"),
    "of a node": module("y = R.const(N)", before=f"N = tvm.tir.const({_LONG})"),
    "of a type variable": module("y = R.const(N)", before=f"N = T.dynamic({_LONG})"),
    "default": _inside(f"N={_LONG}"),
    "computed default": _inside(f"N=f({_LONG})"),
    "parametrized": _inside("N", f'@pytest.mark.parametrize("N", [{_LONG}])\n'),
    "statement": module(f"del x[{_LONG}]"),
    "attribute": module(f"y = R.no.such[{_LONG}].name"),
    "keyword": module(f'y = R.call_packed("f", x, sinfo_args={_LONG}, a={_LONG})'),
}
"""Numbers that Python reads and does not print. All but the module that has one is judged."""


def numbers() -> list[Attack]:
    """The same in files, notebooks and pages."""
    found = []
    for name, text in NUMBERS.items():
        cell = {"cell_type": "code", "source": text, "outputs": []}
        found.append(Attack(name, text.encode()))
        found.append(Attack(f"{name}-notebook", json.dumps({"cells": [cell]}).encode(), "notebook"))
        found.append(Attack(f"{name}-page", f"```python\n{text}```\n".encode(), "markdown"))
    return found


DOCUMENTS = (
    Attack(
        "index of a graph", f'{{"root_index": {_DIGITS}, "nodes": [{{"type": "None"}}]}}'.encode(), "json"
    ),
    Attack(
        "value of a graph",
        f'{{"root_index": 0, "nodes": [{{"type": "int", "data": {_DIGITS}}}]}}'.encode(),
        "json",
    ),
    Attack("notebook", f'{{"cells": ["tvm.script R.function"], "nbformat": {_DIGITS}}}'.encode(), "notebook"),
)
"""JSON with numbers that Python does not read: each is one thing that cannot be read."""


_ENDLESS = 'te.placeholder((4,), name="a")'
LARGE: Mapping[str, str] = {
    "zeros like": "np.zeros_like(A, shape=(10**6, 10**6))",
    "ones like": "np.ones_like(A, shape=(10**5, 10**5))",
    "full like": "np.full_like(A, 1, shape=(10**5, 10**5))",
    "small steps": "np.arange(10, step=1e-9)",
    "long texts": 'np.zeros(3, "S2000000000")',
    "cast to long texts": 'A.astype("S2000000000")',
    "array of arrays": 'np.zeros(3, "(1000,1000,1000)f8")',
    "bounds that are arrays": "np.linspace(np.zeros(100000), 1, 100000)",
    "broadcast": "np.power(np.zeros((10000, 1)), np.zeros((1, 100000)))",
    "random broadcast": "np.random.normal(np.zeros((10000, 1)), np.zeros((1, 100000)))",
    "nested": "np.array([np.zeros(10**7)] * 60000)",
    "selected": 'np.zeros(65536)[np.zeros((8192, 8192), "int64")]',
    "list without an end": f"np.array(list({_ENDLESS}))",
    "sum without an end": f"sum({_ENDLESS})",
    "array without an end": f"np.zeros({_ENDLESS})",
    "shape without an end": f"te.compute({_ENDLESS}, lambda *a: a)",
}
"""Values that are small to write. `A` is an array."""


def large() -> list[Attack]:
    """As a value of the file and of the unit."""
    found = []
    for name, value in LARGE.items():
        array = "A = np.zeros(3)\n"
        found.append(
            Attack(f"{name}-file", module("y = R.const(N)", before=f"{array}N = {value}\n").encode())
        )
        found.append(Attack(f"{name}-body", module(f"y = R.const({value})", before=array).encode()))
    return found


_NODES: Mapping[str, list[dict[str, object]]] = {
    "named function": [{"type": "ir.EnvFunc", "data": "runtime.SaveParams"}],
    "external function": [
        {"type": "ffi.String", "data": "runtime.SaveParams"},
        {"type": "None"},
        {"type": "relax.expr.ExternFunc", "data": {"global_symbol": 0, "ty": 1, "span": 1}},
    ],
    "text": [{"type": "ffi.String", "data": "{0.__class__.__init__.__globals__}"}],
    "library": [{"type": "runtime.Module", "data": "/CANARY/"}],
}
_USES = (
    "{0}('/CANARY/')",
    "{0}.format(R)",
    "{0}.data.numpy().tofile('/CANARY/')",
    "R.call_packed({0}, x, sinfo_args=R.Object)",
)


def metadata() -> list[Attack]:
    """What a printed module brings along as a text, and is no constant."""
    found = []
    for name, nodes in _NODES.items():
        last = len(nodes)
        more = [
            {"type": "ffi.Array", "data": [last - 1]},
            {"type": "ffi.String", "data": "a"},
            {"type": "ffi.Map", "data": [last + 1, last]},
        ]
        graph = json.dumps({"root_index": last + 2, "nodes": [*nodes, *more]})
        for number, use in enumerate(_USES):
            text = module(
                "y = " + use.format('metadata["a"][0]'), before=f"metadata = tvm.ir.load_json({graph!r})\n"
            )
            found.append(Attack(f"{name}-{number}", text.encode()))
    return found


SYMBOLS = ("T", "R", "I", "tvm", "np", "max", "__import__", "__tensor_field__")
"""Names that an older dialect has a parameter take after the gate has looked."""


def renamed() -> list[Attack]:
    """`R.Prim(value=...)`, which was another name of a parameter."""
    return [
        Attack(
            name,
            (
                f"{_HEAD}\n@I.ir_module\nclass Module:\n    @R.function\n"
                f'    def main(p: R.Prim(value="{name}"), x: R.Tensor((4,), "float32")):\n'
                '        y = R.call_packed("f", x, p, sinfo_args=R.Tensor((4,), "float32"))\n'
                f"        z = R.add(x, x)\n        return z\n{_JUDGED}"
            ).encode(),
        )
        for name in SYMBOLS
    ]
