"""Random Relax functions: casts of nested tuples, storages that are passed on, operators, packed functions, branches,
several devices, results of every shape.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from textwrap import indent

_F, _I = '"float32"', '"int64"'
_STORAGE = "storage"
_KERNELS = {
    "half": """
@T.prim_func(private=True, s_tir=True)
def half(x_: T.handle, y_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (n,), "float32")
    for i in range(n // 2):
        y[i] = x[i] * T.float32(2)
""",
    "add": """
@T.prim_func(private=True, s_tir=True)
def add(x_: T.handle, y_: T.handle, z_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (n,), "float32")
    z = T.match_buffer(z_, (n,), "float32")
    for i in range(n):
        z[i] = x[i] + y[i]
""",
    "twice": """
@T.prim_func(private=True, s_tir=True)
def twice(x_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    for i in range(n):
        x[i] = x[i] * T.float32(2)
""",
    "guarded": """
@T.prim_func(private=True, s_tir=True)
def guarded(x_: T.handle, y_: T.handle, k: T.int64):
    n = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (n,), "float32")
    for i in range(n):
        if i < k:
            y[i] = x[n - 1 - i]
""",
    "count": """
@T.prim_func(private=True, s_tir=True)
def count(p_: T.handle, q_: T.handle):
    n = T.int64()
    p = T.match_buffer(p_, (n,), "int64")
    q = T.match_buffer(q_, (n,), "int64")
    for i in range(n):
        q[i] = T.max(T.min(p[i], n - 1), T.int64(0))
""",
    "gather": """
@T.prim_func(private=True, s_tir=True)
def gather(x_: T.handle, p_: T.handle, y_: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(x_, (m,), "float32")
    p = T.match_buffer(p_, (n,), "int64")
    y = T.match_buffer(y_, (n,), "float32")
    for i in range(n):
        y[i] = x[p[i]]
""",
}
_SIZES = (
    "n",
    "m",
    "n",
    "m",
    "4",
    "8",
    "n + 1",
    "n * m",
    "2 * n",
    "n // 2",
    "T.max(n, m)",
    "T.min(n, 4)",
    "n - 1",
)


def text_of(number: int) -> str:
    """A module as TVMScript, the same one for a number; TVM does not take each of them."""
    return _Writer(random.Random(number)).text()


class _Writer:
    """Writes one module. `known` are the values of the function that is written, with what they are."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._known: dict[str, str] = {}
        self._count = 0
        self._functions: dict[str, list[str]] = {}
        self._device = chance.random() < 0.15

    def _one(self, *words: str) -> str:
        return self._chance.choice(words)

    def text(self) -> str:
        """The module."""
        parts = list(_KERNELS.values())
        for name in ("inner", "outer"):
            if self._chance.random() < 0.8:
                parts.append(self._function(name, private=True))
        parts.append(self._function("main", private=False))
        head = "@I.ir_module\nclass Module:\n"
        if self._device:
            head += '    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("opencl", 0)]})\n'
        return head + indent("\n".join(parts), "    ")

    # -- functions -----------------------------------------------------------------------------

    def _function(self, name: str, *, private: bool) -> str:
        self._known = {}
        kinds = [self._kind(2, storages=private) for _ in range(self._chance.randint(1, 3))]
        names = [f"a{place}" for place in range(len(kinds))]
        own = dict(zip(names, kinds, strict=True))
        self._known = {**own, "x": f"R.Tensor((n,), {_F})", "p": f"R.Tensor((n,), {_I})", "o": "R.Object"}
        lines = [line for _ in range(self._chance.randint(2, 8)) for line in self._lines(0)]
        result = self._result()
        parameters = ", ".join(f"{one}: {_annotation(kind)}" for one, kind in own.items())
        self._functions[name] = kinds
        head = f"@R.function(pure=False{', private=True' * private})\ndef {name}({parameters}, x: "
        head += 'R.Tensor(("n",), "float32"), p: R.Tensor(("n",), "int64"), o: R.Object, '
        head += 'e: R.Tensor(("n", "m"), "int8"), c: R.Tensor((), "bool")):\n    n = T.int64()\n    m = T.int64()\n'
        if any("k" in kind for kind in kinds):
            head += "    k = T.int64()\n"
        return head + indent("\n".join([*lines, f"return {result}"]), "    ")

    def _kind(self, depth: int, *, storages: bool = False) -> str:
        """What a parameter is, as the text of its type."""
        if storages and self._chance.random() < 0.25:
            return _STORAGE
        plain = [
            f"R.Tensor(({self._extent()},), {_F})",
            f"R.Tensor(({self._extent()},), {_F})",
            f"R.Tensor(({self._extent()},), {_I})",
            f"R.Tensor(({self._extent()}, {self._extent()}), {_F})",
            "R.Object",
            f"R.Tensor(ndim=1, dtype={_F})",
            f"R.Tensor(dtype={_F})",
            'R.Shape(["k"])',
            'R.Prim("int64")',
            'R.Prim("int32")',
        ]
        if depth and self._chance.random() < 0.3:
            fields = [self._kind(depth - 1) for _ in range(self._chance.randint(1, 3))]
            return f"R.Tuple({', '.join(fields)})"
        return self._chance.choice(plain)

    def _extent(self) -> str:
        return self._one(
            '"n"', '"n"', '"m"', "4", '"n + 1"', '"n * m"', '"k"' if self._chance.random() < 0.3 else "8"
        )

    def _result(self) -> str:
        names = [name for name, kind in self._known.items() if kind != _STORAGE] or ["e"]
        one, other, last = (self._chance.choice(names) for _ in range(3))
        recent = names[-1]
        return self._one(
            recent, recent, one, f"({one}, {other})", f"({recent}, ({other}, {last}))", f"({one},)"
        )

    # -- statements ----------------------------------------------------------------------------

    def _new(self, kind: str) -> str:
        self._count += 1
        name = f"t{self._count}"
        self._known[name] = kind
        return name

    def _of(self, wanted: Callable[[str], bool], otherwise: str) -> str:
        found = [name for name, kind in self._known.items() if wanted(kind)]
        return self._chance.choice(found) if found else otherwise

    def _floats(self) -> str:
        return self._of(lambda kind: kind.startswith("R.Tensor((") and kind.endswith(f",), {_F})"), "x")

    def _integers(self) -> str:
        return self._of(lambda kind: kind.startswith("R.Tensor((") and kind.endswith(f",), {_I})"), "p")

    def _tensor(self) -> str:
        return self._of(lambda kind: kind.startswith("R.Tensor("), "e")

    def _any(self) -> str:
        return self._of(lambda kind: kind != _STORAGE, "e")

    def _lines(self, depth: int) -> list[str]:
        makers = [
            *[self._memory] * 5,
            *[self._kernel] * 4,
            *[self._cast] * 4,
            *[self._operator] * 3,
            *[self._packed] * 3,
            *[self._call] * 3,
            *[self._named] * 2,
        ]
        if depth < 2:
            makers += [self._branch] * 2
        maker = self._chance.choice(makers)
        return maker(depth)

    def _memory(self, depth: int) -> list[str]:
        size, shape = self._one(*_SIZES), self._one(*_SIZES)
        roll = self._chance.random()
        storage = self._of(lambda kind: kind == _STORAGE, "")
        if not storage or roll < 0.35:
            name = self._new(_STORAGE)
            scope = self._one("global", "global", "global", "global.ddr", "ipc_memory")
            lanes = self._one(f"[4 * ({size})]", f"[4 * ({size})]", f"[{size}]", "[64]")
            return [
                f"{name} = R.memory.alloc_storage(R.shape({lanes}), R.prim_value({int(self._device)}), "
                f'R.str("{scope}"), R.dtype("{self._one("uint8", "float32")}"))'
            ]
        if roll > 0.9:
            kind, name = self._chance.choice((("storage", storage), ("tensor", self._floats())))
            return [f"k{self._count} = R.memory.kill_{kind}({name})"]
        offset = self._one("0", "0", "0", "4", "64", "4 * n", "4 * n")
        name = self._new(f"R.Tensor(({shape},), {_F})")
        return [
            f"{name} = R.memory.alloc_tensor({storage}, R.prim_value({offset}), R.shape([{shape}]), R.dtype({_F}))"
        ]

    def _kernel(self, depth: int) -> list[str]:
        one, other, shape = self._floats(), self._floats(), self._one(*_SIZES)
        made = f"R.Tensor(({shape},), {_F})"
        integers = self._integers()
        forms = [
            (f"R.call_tir(Module.half, ({one},), {made})", made),
            (f"R.call_tir(Module.add, ({one}, {other}), {made})", made),
            (f"R.call_tir_inplace(Module.twice, ({one},), [0], {made})", made),
            (f"R.call_tir_inplace(Module.add, ({one}, {one}, {other}), [2], {made})", made),
            (
                f"R.call_tir(Module.guarded, ({one},), {made}, tir_vars=R.shape([{self._one('n', '3')}]))",
                made,
            ),
            (f"R.call_tir(Module.count, ({integers},), R.Tensor((n,), {_I}))", f"R.Tensor((n,), {_I})"),
            (f"R.call_tir(Module.gather, ({one}, {integers}), {made})", made),
            (f"Module.twice({one})", ""),
            (f"Module.add({one}, {other}, {self._floats()})", ""),
            (f"Module.half({one}, {other})", ""),
        ]
        code, kind = self._chance.choice(forms)
        return [f"{self._new(kind) if kind else f'w{self._count}'} = {code}"]

    def _cast(self, depth: int) -> list[str]:
        """A cast to a type that the value may have, as far as TVM knows."""
        source = self._any()
        kind, symbol = self._known.get(source, ""), f"s{self._count}"
        target = self._cast_of(kind, symbol)
        first = [f"{symbol} = T.int64()"] if symbol in target else []
        return [*first, f"{self._new(target)} = R.match_cast({source}, {target})"]

    def _cast_of(self, kind: str, symbol: str) -> str:
        extent = self._one("n", "m", symbol, symbol, "4", "n + 1")
        if kind.startswith("R.Tuple("):
            return f"R.Tuple({', '.join(self._cast_of(field, symbol) for field in _fields(kind))})"
        if kind.startswith("R.Shape"):
            return f"R.Shape([{extent}])"
        if kind.startswith("R.Tensor(") and kind.endswith(
            (f"),, {_F})", f",), {_F})", f"ndim=1, dtype={_F})")
        ):
            return self._one(
                f"R.Tensor(({extent},), {_F})", f"R.Tensor(({extent},), {_F})", f"R.Tensor(dtype={_F})"
            )
        if kind == "R.Object":
            return self._target(symbol)
        return (
            kind.replace('"n', "n")
            .replace('"m"', "m")
            .replace('n"', "n")
            .replace('1"', "1")
            .replace('"k"', "k")
        )

    def _target(self, symbol: str) -> str:
        extent = self._one("n", "m", symbol, symbol, "2 * n")
        return self._one(
            f"R.Tensor(({extent},), {_F})",
            f"R.Tensor(({extent},), {_F})",
            f"R.Tensor(({extent}, {self._one('m', '4')}), {_F})",
            f"R.Tensor(ndim=1, dtype={_F})",
            "R.Tensor(ndim=2)",
            f"R.Shape([{extent}])",
            "R.Object",
        )

    def _operator(self, depth: int) -> list[str]:
        one, two = self._floats(), self._tensor()
        count, axis = self._one("1", "2", "3", "9"), self._one("-1", "0")
        both = f'R.topk({two}, k={count}, axis={axis}, ret_type="{self._one("both", "values", "indices")}")'
        kind, code = self._chance.choice(
            (
                ("", f"R.add({one}, {self._floats()})"),
                ("", both),
                ("", f"R.argsort({two}, axis={axis})"),
                ("", f"R.sort({two}, axis={axis})"),
                ("", f"R.split({two}, 2, axis=0)"),
                ("", f"R.reshape({one}, R.shape([{self._one('n', '4', '1, n', '2, n // 2')}]))"),
                ("", f"R.flatten({two})"),
                ("", f"R.expand_dims({one}, [0])"),
                ("", f"R.take({one}, {self._integers()}, axis=0)"),
                ("", f"R.memory.view({one}, R.shape([{self._one(*_SIZES)}]), dtype={_F})"),
                ("", f"R.memory.ensure_zero_offset({one})"),
                ("", f"R.zeros(R.shape([{self._one(*_SIZES)}]), {_F})"),
                ("", f"R.shape_of({two})"),
            )
        )
        return [f"{self._new(kind or 'R.Object')} = {code}"]

    def _packed(self, depth: int) -> list[str]:
        one, other = self._floats(), self._any()
        kind = self._kind(1)
        if '"k"' in kind or '"' in kind.replace(_F, "").replace(_I, "").replace('"int32"', ""):
            kind = f"R.Tensor(({self._one('n', 'm', '4')},), {_F})"
        shape = f"R.shape([{self._one('n', '4', '2')}, {self._one('m', '8')}, 16])"
        pair = f"R.Tuple({kind}, R.Tensor((m,), {_F}))"
        forms = [
            (f'R.call_packed("my.one", {one}, ty_args={kind})', kind),
            (f'R.call_packed("my.pair", {one}, {other}, ty_args={pair})', pair),
            (f'R.call_pure_packed("my.pure", {other}, ty_args={kind})', kind),
            (
                f'R.call_inplace_packed("my.write", {one}, inplace_indices=[0], ty_args={_known(self._known, one)})',
                "",
            ),
            (f'R.call_dps_packed("my.dps", ({one},), R.Tensor((n,), {_F}))', f"R.Tensor((n,), {_F})"),
            (f'R.call_packed("vm.builtin.make_tuple", {one}, {other}, ty_args={pair})', pair),
            (f'R.call_packed("vm.builtin.copy", {other}, ty_args={kind})', kind),
            (
                f'R.call_packed("vm.builtin.attention_kv_cache_create", {one}, {shape}, R.prim_value(0), ty_args=R.Object)',
                "R.Object",
            ),
            (
                f'R.call_packed("vm.builtin.to_device", {one}, R.prim_value(1), R.prim_value(0), ty_args={kind})',
                kind,
            ),
            (
                f'R.call_packed("tvm.contrib.sort.{self._one("sort", "argsort")}", {one}, {self._floats()}, '
                f"R.prim_value({self._one('0', '-1', '1')}), R.prim_value(1), ty_args=R.Tuple)",
                "",
            ),
            (
                f'R.call_packed("tvm.contrib.sort.topk", {one}, {self._floats()}, R.prim_value({self._one("0", "3")}), '
                f'R.prim_value(0), R.str("{self._one("values", "indices", "both")}"), R.prim_value(1), ty_args=R.Tuple)',
                "",
            ),
            (
                f'R.call_packed("vm.builtin.rnn_state_create", R.prim_value(2), R.prim_value(4), R.prim_value(1), '
                f"R.prim_value(0), R.prim_value(0), ({one}, {self._floats()}), ty_args=R.Object)",
                "R.Object",
            ),
        ]
        code, made = self._chance.choice(forms)
        return [f"{self._new(made) if made else f'w{self._count}'} = {code}"]

    def _call(self, depth: int) -> list[str]:
        if not self._functions:
            return self._named(depth)
        name = self._chance.choice(list(self._functions))
        arguments = [self._argument(kind) for kind in self._functions[name]]
        callee, lines = f"Module.{name}", []
        if self._chance.random() < 0.25:
            alias = f"f{self._count}"
            lines = [f"{alias} = {callee}"]
            callee = alias
        code = f"{callee}({', '.join([*arguments, 'x', 'p', 'o', 'e', 'c'])})"
        result = f"{self._new('R.Object')} = {code}"
        return [*lines, result]

    def _argument(self, kind: str) -> str:
        alike = self._of(lambda other: other == kind, "")
        if alike:
            return alike
        if kind.startswith("R.Tuple"):
            return f"({', '.join(map(self._argument, _fields(kind)))},)"
        if kind.startswith("R.Prim"):
            return f"R.prim_value({self._one('3', 'n')})"
        if kind.startswith("R.Shape"):
            return f"R.shape([{self._one('n', 'm')}])"
        if kind == _STORAGE:
            return self._of(lambda other: other == _STORAGE, "o")
        return "p" if kind.endswith(f"{_I})") else "x"

    def _named(self, depth: int) -> list[str]:
        one, other = self._any(), self._any()
        pairs = [name for name, kind in self._known.items() if kind.startswith("R.Tuple(")]
        roll = self._chance.random()
        if pairs and roll < 0.5:
            pair = self._chance.choice(pairs)
            fields = _fields(self._known[pair])
            place = self._chance.randrange(len(fields))
            return [f"{self._new(fields[place])} = {pair}[{place}]"]
        if roll < 0.75:
            kind = f"R.Tuple({self._known.get(one, 'R.Object')}, {self._known.get(other, 'R.Object')})"
            return [f"{self._new(kind)} = ({one}, {other})"]
        return [f"{self._new(self._known.get(one, 'R.Object'))} = {one}"]

    def _branch(self, depth: int) -> list[str]:
        before = dict(self._known)
        sides, names = [], []
        for _ in range(2):
            self._known = dict(before)
            lines = [line for _ in range(self._chance.randint(1, 2)) for line in self._lines(depth + 1)]
            sides.append(lines)
            names.append(self._any())
        kind = self._known.get(names[1], "R.Object")
        self._known = before
        result = f"i{self._count}"
        self._known[result] = kind
        ends = [f"{result} = {name}" for name in names]
        block = ["if c:", *(f"    {line}" for line in (*sides[0], ends[0]))]
        return [*block, "else:", *(f"    {line}" for line in (*sides[1], ends[1]))]


def _known(known: dict[str, str], name: str) -> str:
    return known.get(name, f"R.Tensor((n,), {_F})").replace('"n"', "n").replace('"m"', "m")


def _fields(kind: str) -> list[str]:
    """The kinds of the fields of a tuple."""
    found, depth, start = [], 0, 0
    inside = kind.removeprefix("R.Tuple(")[:-1]
    for place, letter in enumerate(inside):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            found.append(inside[start:place].strip())
            start = place + 1
    return [*found, inside[start:].strip()]


def _annotation(kind: str) -> str:
    return "R.Object" if kind == _STORAGE else kind
