"""Texts that are meant to take all the time, memory or stack there is. Each is small; what it asks for is not."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.attack.positions import REFUSED
from tests.attack.trying import Attack

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\nimport numpy as np\n\n"
_MANY = 10**9


def body(*lines: str, signature: str = '(x: R.Tensor(("n",), "float32"))', result: str = "x") -> str:
    """A module of one function."""
    inner = "".join(f"        {line}\n" for line in lines)
    return (
        f"{HEADER}@I.ir_module\nclass Module:\n    @R.function\n    def main{signature}:\n"
        f"        n = T.int64()\n{inner}        return {result}\n"
    )


NUMBERS = {
    "power": "9 ** 9 ** 9",
    "power_of_known": "2 ** 10 ** 9",
    "negative_power": "2 ** -(10 ** 9)",
    "float_power": "1e308 ** 9",
    "shift": "1 << 10 ** 9",
    "digits": "9" * 5000,
    "hexadecimal": "0x" + "f" * 100_000,
    "text": "'a' * 10 ** 10",
    "list": "[0] * 10 ** 10",
    "nested_list": "[[[[0] * 60000] * 60000] * 60000] * 60000",
    "bytes": "b'a' * 10 ** 10",
    "range": f"list(range({_MANY}))",
    "sum": f"sum(range({_MANY}))",
    "max": f"max(range({_MANY}))",
    "enumerate": f"list(enumerate(range({_MANY})))",
    "comprehension": f"[i for i in range({_MANY})]",
    "comprehensions": "[1 for a in range(999) for b in range(999) for c in range(999) for d in range(999)]",
    "nested_comprehensions": "[[[[1 for a in range(999)] for b in range(999)] for c in range(999)] for d in range(9)]",
    "format_width": "f'{1:>9999999999}'",
    "format_precision": "f'{1.0:.9999999999f}'",
    "percent": "'%9999999999d' % 1",
    "numpy_zeros": f"R.const(np.zeros({_MANY}))",
    "numpy_shape": "R.const(np.ones((99999, 99999)))",
    "numpy_full": f"R.const(np.full(shape={_MANY}, fill_value=1))",
    "numpy_arange": "R.const(np.arange(0, 1, 1e-12))",
    "numpy_eye": "R.const(np.eye(99999))",
    "numpy_random": "R.const(np.random.rand(9999, 9999, 99))",
    "numpy_linspace": f"R.const(np.linspace(0, 1, {_MANY}))",
    "numpy_tile": f"R.const(np.tile(1, {_MANY}))",
}


def numbers() -> Iterator[Attack]:
    """Values that are too large, where a value is read and where a name is resolved."""
    for place in (
        "value",
        "constant",
        "attribute_dictionary",
        "parameter_extent",
        "used_name",
        "default",
        "kernel_loop",
    ):
        for name, text in NUMBERS.items():
            yield Attack(f"{place}-{name}", REFUSED[place].replace("{P}", text).encode())


def nesting() -> Iterator[Attack]:
    """Deep trees of every kind."""
    deep = 20_000
    expressions = {
        "parentheses": "(" * deep + "1" + ")" * deep,
        "lists": "[" * deep + "]" * deep,
        "tuples": "(" * 90 + "1" + ",)" * 90,
        "unary": "-" * deep + "1",
        "not": "not " * deep + "1",
        "sum": "+".join("1" * deep),
        "power": "**".join("1" * deep),
        "attributes": "R" + ".a" * deep,
        "calls": "R" + "()" * deep,
        "subscripts": "x" + "[0]" * deep,
        "lambdas": "lambda: " * deep + "1",
        "conditionals": "1 if 1 else " * deep + "1",
        "comparisons": "<".join("1" * deep),
        "ands": " and ".join("1" * deep),
        "f_strings": "f'{" * 3 + "1" + "}'" * 3,
        "string_parts": "'a' " * 100_000,
        "dictionaries": "{1:" * deep + "1" + "}" * deep,
    }
    for name, text in expressions.items():
        yield Attack(f"deep-{name}", body(f"y = R.const({text})").encode())
        yield Attack(
            f"deep_shape-{name}", body(f'y = R.match_cast(x, R.Tensor(("{text}",), "float32"))').encode()
        )
        yield Attack(f"deep_name-{name}", (f"N = {text}\n" + body("y = R.const(N)")).encode())
    for count in (95, 2_000):
        ifs = "".join(f"{'    ' * (2 + level)}if n > {level}:\n" for level in range(count))
        tail = f"{'    ' * (2 + count)}y = x\n"
        yield Attack(
            f"deep-ifs-{count}", body().replace("        return", ifs + tail + "        return").encode()
        )
        classes = "".join(f"{'    ' * level}class C{level}:\n" for level in range(count))
        yield Attack(f"deep-classes-{count}", (body() + classes + "    " * count + "pass\n").encode())
    names = "".join(f"N{i + 1} = N{i} + N{i}\n" for i in range(300))
    yield Attack("deep-names", (f"N0 = 1\n{names}" + body("y = R.const(N300)")).encode())
    lists = "".join(f"N{i + 1} = [N{i}, N{i}]\n" for i in range(100))
    yield Attack("doubled-lists", (f"N0 = [1]\n{lists}" + body("y = R.const(N100)")).encode())
    circle = "".join(f"N{i} = N{(i + 1) % 50} + 1\n" for i in range(50))
    yield Attack("circle-of-names", (circle + body("y = R.const(N0)")).encode())


def programs() -> Iterator[Attack]:
    """Proper TVMScript whose analysis could explode."""
    doubled = [f"t{i + 1} = (t{i}, t{i})" for i in range(60)]
    yield Attack("doubled-tuples", body("t0 = (x, x)", *doubled).encode())
    returned = body("t0 = (x, x)", *doubled[:22], result="t22")
    yield Attack("doubled-tuples-returned", returned.encode())
    yield Attack("long-chain", body("y0 = x", *(f"y{i + 1} = y{i}" for i in range(5_000))).encode())
    symbols = ", ".join(f'"s{i}"' for i in range(40))
    product = " * ".join(f"(s{i} + s{(i + 1) % 40})" for i in range(40))
    signature = f'(x: R.Tensor(({symbols}), "float32"))'
    defined = [f"s{i} = T.int64()" for i in range(40)]
    storage = [
        *defined,
        f's = R.memory.alloc_storage(R.shape([{product}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))',
        f't = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{product}]), R.dtype("float32"))',
    ]
    yield Attack("product-of-sums", body(*storage, signature=signature).encode())
    nested = "n"
    for k in range(2, 60):
        nested = f"(({nested}) * {k} + {k}) // {k + 1} % {k + 7}"
    divided = (
        f's = R.memory.alloc_storage(R.shape([{nested}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
    )
    yield Attack("nested-divisions", body(divided).encode())
    maxima = "n"
    for k in range(1, 40):
        maxima = f"T.max({maxima}, T.min({maxima if k < 6 else 'n'} * {k}, {k}))"
    largest = (
        f's = R.memory.alloc_storage(R.shape([{maxima}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
    )
    yield Attack("nested-maxima", body(largest).encode())
    power = " * ".join(["(n + 1)"] * 200)
    huge = (
        f's = R.memory.alloc_storage(R.shape([{power}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
    )
    yield Attack("high-power", body(huge).encode())
    ranks = ", ".join(["1"] * 10_000)
    yield Attack("high-rank", body(f'y = R.zeros(R.shape([{ranks}]), "float32")').encode())
    functions = "".join(
        f'    @R.function\n    def f{i}(x: R.Tensor(("n",), "float32")):\n'
        f"        y = Module.f{i + 1}(x)\n        z = Module.f{i + 1}(y)\n        return z\n"
        for i in range(40)
    )
    last = '    @R.function\n    def f40(x: R.Tensor(("n",), "float32")):\n        return x\n'
    yield Attack("calls-twice-each", f"{HEADER}@I.ir_module\nclass Module:\n{functions}{last}".encode())
    mutual = last.replace("f40", "f0").replace("return x", "y = Module.f0(x)\n        return y")
    yield Attack("recursion", f"{HEADER}@I.ir_module\nclass Module:\n{mutual}".encode())
    ifs = []
    for level in range(30):
        ifs += [
            f"if c:\n            y{level} = R.add(x, x)\n        else:\n            y{level} = R.multiply(x, x)"
        ]
    branching = '(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32"))'
    yield Attack("many-branches", body(*ifs, signature=branching).encode())
    loops = "for a in T.unroll(10): A[a] = 1.0\n        " * 1
    grid = (
        "for "
        + ", ".join(f"i{k}" for k in range(20))
        + " in T.grid("
        + ", ".join(["9999"] * 20)
        + "): A[0] = 1.0"
    )
    for name, statement in (
        ("grid", grid),
        ("unroll", loops),
        ("unrolled", f"for a in T.unroll({_MANY}): A[a] = 1.0"),
    ):
        text = REFUSED["kernel_store"].replace("A[0] = {P}", statement)
        yield Attack(f"kernel-{name}", text.encode())


def volume() -> Iterator[Attack]:
    """Many of one thing."""
    unit = body()[len(HEADER) :]
    yield Attack("many-names", (HEADER + "".join(f"N{i} = {i}\n" for i in range(20_000)) + unit).encode())
    yield Attack("many-decorators", (HEADER + "@f\n" * 5_000 + unit).encode())
    yield Attack("many-functions", (HEADER + "def f(): pass\n" * 20_000 + unit).encode())
    yield Attack("one-long-line", (HEADER + f"N = '{'a' * 5_000_000}'\n" + unit).encode())
    yield Attack("one-long-name", body(f"{'a' * 1_000_000} = x").encode())
    yield Attack("comments", (HEADER + "# relax-lint: ignore[" + "RLX101," * 100_000 + "]\n" + unit).encode())
    yield Attack("spaces", (HEADER + "def main" + " " * 500_000 + "[" + " " * 500_000 + "\n" + unit).encode())
    yield Attack("brackets", (HEADER + "# " + "[tool" * 100_000 + "\n" + unit).encode())
    yield Attack("type-parameters", body().replace("def main(", "def main[" + "n, " * 20_000 + "](").encode())
    yield Attack("fences", ("```\n" * 100_000 + "```python\n" + HEADER + unit + "```\n").encode(), "markdown")
    yield Attack("open-fences", ("```python\n" + HEADER + unit + "~~~~\n" * 50_000).encode(), "markdown")
    yield Attack("quotes", ("> " * 50_000 + "```python\n" + HEADER + unit).encode(), "markdown")
    cell = {"cell_type": "code", "source": [HEADER + unit]}
    yield Attack("cells", json.dumps({"cells": [cell] * 300, "nbformat": 4}).encode(), "notebook")
    yield Attack(
        "deep-notebook",
        ('{"cells": ' + "[" * 100_000 + "]" * 100_000 + "}" + " tvm function").encode(),
        "notebook",
    )
    yield Attack("deep-json", b'{"root_index": 0, "nodes": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "json")
    sources = "import tvm\n" + f"tvm.script.from_source({unit!r})\n" * 200
    yield Attack("literals", sources.encode())
    inner = HEADER + unit
    for _ in range(8):
        inner = f"import tvm\ntvm.script.from_source({inner!r})\n# function\n"
    yield Attack("literals-in-literals", inner.encode())


def all_attacks() -> Iterator[Attack]:
    """Every one of them."""
    yield from numbers()
    yield from nesting()
    yield from programs()
    yield from volume()
