"""Every name that the parser gives a meaning, bound to something else, at every place that binds and at every
place that evaluates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.attack.payloads import CANARY
from tests.attack.trying import Attack

NAMES = (
    "T",
    "R",
    "I",
    "tir",
    "tirx",
    "relax",
    "tvm",
    "np",
    "math",
    "topi",
    "metadata",
    "max",
    "int",
    "M",
    "name",
)
"""Dialects, packages, builtins, an alias of an import and a name that means nothing."""

# From a stand-in of ours, and from a method of a node, to a library that is loaded from a file.
_WALK = "{0.__class__.__getattr__.__globals__[importlib].sys.modules[ctypes].cdll[" + CANARY + ".so]}"
_WALK_OF_A_NODE = "{0.same_as.__globals__[ctypes].cdll[" + CANARY + ".so]}"


class Payload(NamedTuple):
    """A value that a name is bound to, and how it is used. `N` stands for the name."""

    value: str
    use: str


PAYLOADS: Mapping[str, Payload] = {
    "str.format of a stand-in": Payload(repr(_WALK), "N.format(R)"),
    "str.format of a node": Payload(repr(_WALK_OF_A_NODE), "N.format(x)"),
    "str.format_map": Payload(repr(_WALK.replace("{0.", "{r.")), "N.format_map({'r': R})"),
    "str in a list": Payload(f"[{_WALK!r}]", "N[0].format(R)"),
    "str of parts": Payload(f"{_WALK[:9]!r} + {_WALK[9:]!r}", "N.format(R)"),
    "bytes": Payload("b'%d'", "N.__class__.fromhex('61').join([R])"),
    "function": Payload("open", f"N('{CANARY}', 'w')"),
    "import": Payload("__import__", f"N('os').open('{CANARY}', 65)"),
    "lambda with a default": Payload(f"lambda a='{CANARY}', open=open: open(a, 'w')", "N()"),
    "class": Payload(
        "type",
        f"N('C', (), {{}})().__init__.__self__.__class__.__base__.__subclasses__(open('{CANARY}', 'w'))",
    ),
    "module": Payload("os", f"N.open('{CANARY}', 65)"),
    "package": Payload("tvm", f"N.runtime.load_module('{CANARY}.so')"),
    "packed function": Payload("tvm.get_global_func('runtime.SaveParams')", f"N('{CANARY}')"),
    "array to a file": Payload("np.zeros(3)", f"N.tofile('{CANARY}')"),
    "array dumped": Payload("np.zeros(3)", f"N.dump('{CANARY}')"),
    "array of a constant": Payload("R.const(1)", f"N.data.numpy().tofile('{CANARY}')"),
    "program to show": Payload("R.const(1)", "N.show(style='x', black_format=True)"),
    "program saved": Payload("R.const(1)", f"tvm.ir.save_json(N, open('{CANARY}', 'w'))"),
    "globals of a node": Payload("R.const(1)", f"N.same_as.__globals__['ctypes'].CDLL('{CANARY}.so')"),
    "globals of a function": Payload("R.add", f"N.__globals__['__builtins__']['open']('{CANARY}', 'w')"),
    "class of a stand-in": Payload(
        "R", f"N.__class__.__getattr__.__globals__['importlib'].os.open('{CANARY}', 65)"
    ),
    "tuple": Payload("(1, 2)", f"N.__class__.__base__.__subclasses__()[0].register(open('{CANARY}', 'w'))"),
    "number": Payload("7", f"N.__class__.from_bytes(open('{CANARY}', 'w'))"),
    "callback": Payload("[1, 2]", f"max(N, key=lambda i: open('{CANARY}', 'w'))"),
    "derived type": Payload("None", "R.Callable(N, None, False, 'runtime.ModuleLoadFromFile')"),
}

_HEADER = """\
import os, math, pytest
import numpy as np
import tvm
from tvm import relax, te, topi, tirx
from tvm.script import ir as I, relax as R, tirx as T
import math as M

"""

# Around the unit: what the file does before it.
OUTSIDE: Mapping[str, str] = {
    "assigned": "N = VALUE",
    "annotated": "N: object = VALUE",
    "unpacked": "N, _ = VALUE, 1",
    "starred": "*N, _ = [VALUE, 1]",
    "chained": "_ = N = VALUE",
    "augmented": "N = VALUE\nN += 'a'",
    "walrus": "_ = (N := VALUE)",
    "for": "for N in [VALUE]:\n    pass",
    "with": "with VALUE as N:\n    pass",
    "except": "try:\n    pass\nexcept Exception as N:\n    pass",
    "import as": "import os as N",
    "import from as": "from os import system as N",
    "match": "match VALUE:\n    case N:\n        pass",
    "match star": "match [VALUE]:\n    case [*N]:\n        pass",
    "def": "def N(*a):\n    return VALUE",
    "class": "class N:\n    format = VALUE",
    "global": "def g():\n    global N\n    N = VALUE\ng()",
    "comprehension": "_ = [N for N in [VALUE]]",
    "alias": "_first = VALUE\nN = _first",
    "default": "def outer(N=VALUE):",
    "parametrize": "@pytest.mark.parametrize('N', [VALUE])\ndef outer(N):",
    "declared parameter": "N = tvm.testing.parameter(VALUE)",
    "type variable": "N = tvm.script.tirx.dynamic('N')",
}
# Inside of the unit; a line of the class, of a function, or around the expression itself.
INSIDE: Mapping[str, str] = {
    "class body": "class:N = VALUE",
    "class function": "class:@R.function\n    def N(y: R.Object):\n        return y",
    "body": "body:N = VALUE",
    "body unpacked": "body:N, _ = VALUE, 1",
    "body augmented": "body:N += VALUE",
    "body walrus": "body:y = (N := VALUE)",
    "body for": "body:for N in [VALUE]:\n            y = x",
    "body with": "body:with R.dataflow() as N:\n            y = x",
    "body def": "body:@R.function\n        def N(y: R.Object) -> R.Object:\n            return y",
    "body nonlocal": "body:nonlocal N",
    "body import": "body:import os as N",
    "body except": "body:try:\n            pass\n        except Exception as N:\n            pass",
    "body match": "body:match VALUE:\n            case N:\n                pass",
    "parameter": "parameter:N: R.Object",
    "parameter default": "parameter:N: R.Object = VALUE",
    "lambda": "around:(lambda N: USE)(VALUE)",
    "lambda default": "around:(lambda N=VALUE: USE)()",
    "lambda star": "around:(lambda *N: USE)(VALUE)",
    "list comprehension": "around:[USE for N in [VALUE]]",
    "nested comprehension": "around:[USE for _ in [1] for N, _ in [(VALUE, 1)]]",
    "expression": "around:[(VALUE)][0] and USE",
}

# Where TVM evaluates. `U` is the expression; `"U"` is it as a text.
PLACES: Mapping[str, str] = {
    "text of a parameter": 'parameter:z: R.Tensor(("U",), "float32")',
    "text of a shape": 'parameter:z: R.Shape(values=("U",))',
    "text of a result": 'result:R.Tensor(("U",), "float32")',
    "text of a kernel": 'kernel:T.Buffer(("U",), "float32")',
    "text in a body": 'body:y = R.match_cast(x, R.Tensor(("U",), "float32"))',
    "extent": 'parameter:z: R.Tensor((U,), "float32")',
    "annotation": "parameter:z: U",
    "default": "parameter:z: R.Object = U",
    "result": "result:U",
    "value": "body:y = U",
    "argument": "body:y = R.add(x, U)",
    "callee": "body:y = (U)(x)",
    "keyword": "body:y = R.astype(x, dtype=U)",
    "f-string": 'body:y = R.call_packed(f"{U}", x, ty_args=R.Object)',
    "dictionary": 'body:R.func_attr({"a": U})',
    "subscript": "body:y = x[U]",
    "condition": "body:if U:\n            y = x\n        else:\n            y = x",
    "with": "body:with U:\n            y = x",
    "for": "kernel body:for i in U: A[i] = 1.0",
    "kernel index": "kernel body:A[U] = 1.0",
    "kernel with": "kernel body:with U: A[0] = 1.0",
    "decorator": "decorator:U",
    "class value": "class:v = U",
    "class expression": "class:I.module_attrs({'a': U})",
    "file value": "file:FILE = U",
}


def text_of(binding: str, place: str, name: str, payload: Payload) -> str:
    """A file with one binding and one use."""
    parts = {
        "file": "",
        "class": "",
        "parameter": "",
        "result": "",
        "kernel": "",
        "kernel body": "",
        "body": "",
        "decorator": "",
    }
    use, outer = payload.use, ""
    if binding in OUTSIDE and binding not in ("default", "parametrize"):
        parts["file"] = OUTSIDE[binding] + "\n"
    elif binding in OUTSIDE:
        outer = OUTSIDE[binding] + "\n"
    else:
        kind, _, text = INSIDE[binding].partition(":")
        if kind == "around":
            use = text.replace("USE", use)
        else:
            parts[kind] = text
    kind, _, text = PLACES[place].partition(":")
    quoted = use.replace("\\", "\\\\").replace('"', '\\"')
    text = text.replace('"U"', f'"{quoted}"').replace("U", use) if '"U"' in text else _placed(text, use)
    joint = {"parameter": ", ", "body": "\n        ", "class": "\n    ", "file": ""}
    parts[kind] = parts[kind] + (joint.get(kind, "") if parts[kind] else "") + text
    used = "FILE" if kind == "file" else "4"
    kernel = parts["kernel"] or "T.Buffer((4,), 'float32')"
    extra = f", {parts['parameter']}" if parts["parameter"] else ""
    result = f" -> {parts['result']}" if parts["result"] else ""
    unit = (
        "@I.ir_module\nclass Module:\n"
        f"    {parts['class'] or 'pass'}\n"
        "    @T.prim_func(private=True)\n"
        f"    def kernel(A: {kernel}):\n"
        f"        {parts['kernel body'] or 'A[0] = 1.0'}\n"
        f"    @{parts['decorator'] or 'R.function'}\n"
        f"    def main(x: R.Tensor(({used},), 'float32'){extra}){result}:\n"
        f"        {parts['body'] or 'y = x'}\n        return x\n"
    )
    if outer:
        unit = outer + "".join(f"    {line}\n" for line in unit.splitlines())
    text = _HEADER + parts["file"] + "\n" + unit
    return _named(text.replace("VALUE", payload.value), name)


def _placed(text: str, use: str) -> str:
    return "".join(use if one == "U" else one for one in text)


def _named(text: str, name: str) -> str:
    """`N` as a name, not as a letter of one."""
    return re.sub(r"(?<![A-Za-z0-9_])N(?![A-Za-z0-9_])", name, text)


def attacks(canary: Path, every: int = 1, offset: int = 0) -> Iterator[tuple[str, Attack]]:
    """The class of each payload and the file; every so manyth of all combinations."""
    number = 0
    for kind, payload in PAYLOADS.items():
        for binding in (*OUTSIDE, *INSIDE):
            for place in PLACES:
                number += 1
                if (number + offset) % every:
                    continue
                name = NAMES[number % len(NAMES)]
                text = text_of(binding, place, name, payload).replace(CANARY, str(canary))
                yield kind, _contained(f"{kind}-{binding}-{place}-{name}", text, number)


def _contained(name: str, text: str, number: int) -> Attack:
    """The text as a file of its own; now and then as a page, a notebook or a text for TVM's parser."""
    if number % 11 == 1:
        return Attack(name, f"# Page\n\n```python\n{text}```\n".encode(), "markdown")
    if number % 11 == 2:
        cell = {"cell_type": "code", "source": text, "outputs": []}
        return Attack(name, json.dumps({"cells": [cell], "nbformat": 4, "metadata": {}}).encode(), "notebook")
    if number % 11 == 3:
        call = f"import tvm\nfrom tvm.script import relax as R\ntvm.script.from_source({text!r})\n"
        return Attack(name, call.encode())
    return Attack(name, text.encode())
