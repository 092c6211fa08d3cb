"""Programs as plain data, and their TVMScript.

`main(x: float32[4], n: a number of few bits, c: bool)` writes a tensor at some byte of a storage, hands it on, perhaps kills
it by one of its names, and gives it to something that may look at its offset. `repr` of a program makes it again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import indent

FIRST, KEEP, KEPT = (f"relax_lint.oracle.values.{name}" for name in ("first", "keep", "kept"))
"""Packed functions: one that returns what it is given, and two that keep it and return it later."""

T4 = 'R.Tensor((4,), "float32")'
_FUNCTION = f"R.Callable(({T4},), {T4}, purity=False)"
WAYS = {
    "name": "NEW = OLD",
    "pair": "dNUM = (x, OLD)\nNEW = dNUM[1]",
    "nested": "dNUM = (x, (OLD, x))\neNUM = dNUM[1]\nNEW = eNUM[0]",
    "nested by name": "dNUM = (OLD, x)\neNUM = (dNUM, x)\ngNUM = eNUM[0]\nNEW = gNUM[0]",
    "branch": "if c:\n    NEW = OLD\nelse:\n    NEW = OLD",
    "call": "NEW = Module.same(OLD)",
    "function by name": "fNUM = Module.same\nNEW = fNUM(OLD)",
    "function in a tuple": "dNUM = (Module.same, x)\nfNUM = dNUM[0]\nNEW = fNUM(OLD)",
    "function as an argument": "NEW = Module.apply(Module.same, OLD)",
    "function that computes": "NEW = Module.apply(Module.again, OLD)",
    "packed": f'NEW = R.call_packed("{FIRST}", OLD, ty_args={T4})',
    "kept": f'kNUM = R.call_packed("{KEEP}", OLD, ty_args=R.Any)\nNEW = R.call_packed("{KEPT}", ty_args={T4})',
}
"""How a tensor gets another name."""
_OUTPUT = "o = R.builtin.alloc_tensor(R.shape([4]), R.dtype('float32'), R.prim_value(0))\n"
ENDS = {
    "kernel at zero": f"u = R.call_tir(Module.at_zero, (USED,), {T4})",
    "kernel": f"u = R.call_tir(Module.copy, (USED,), {T4})",
    "sum": "u = R.add(USED, x)",
    "joined": "u = R.concat((x, USED))",
    "sorted by an operator": "u = R.sort(USED)",
    "sort": _OUTPUT
    + 'kk = R.call_packed("tvm.contrib.sort.sort", USED, o, R.prim_value(0), R.prim_value(1), ty_args=R.Tuple)\nu = o',
}
"""What takes the tensor in the end."""
CASTS = {
    "": "",
    "null": f"nothing = R.null_value()\ncast = R.match_cast(nothing, {T4})",
    "null in a tuple": f"nothing = R.null_value()\nboth = (x, nothing)\ncast = R.match_cast(both, R.Tuple({T4}, {T4}))",
    "tensor in a tuple": f"nothing = R.null_value()\nboth = (x, nothing)\ncast = R.match_cast(both, R.Tuple({T4}, R.Any))",
}
_KERNEL = """
@T.prim_func(private=True, s_tir=True)
def {name}(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32"{offset})
    y = T.match_buffer(b, (4,), "float32"{offset})
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            y[v] = x[v]
"""
_HEAD = (
    _KERNEL.format(name="copy", offset=", elem_offset=T.int64()")
    + _KERNEL.format(name="at_zero", offset="")
    + f"""
@R.function(private=True, pure=False)
def same(p: {T4}) -> {T4}:
    return p

@R.function(private=True, pure=False)
def again(p: {T4}) -> {T4}:
    r = R.call_tir(Module.at_zero, (p,), {T4})
    return r

@R.function(private=True, pure=False)
def apply(f: {_FUNCTION}, p: {T4}) -> {T4}:
    r = f(p)
    return r
"""
)
BOUND = 64
"""The number that is given is smaller, and not negative."""


@dataclass(frozen=True)
class Program:
    """`ways` lead from the tensor at byte `start` to the one that `end` takes, if it is `used`; `killed` is the number of the
    name (0: the first) that a kill names, `size` an extent out of `n`, for `bytes` of a storage.
    """

    start: int
    ways: tuple[str, ...]
    end: str
    used: bool = True
    killed: int | None = None
    cast: str = ""
    size: str = ""
    width: str = "int64"
    bytes: int = 0

    @property
    def twin(self) -> Program:
        """What is right and does the same."""
        return replace(self, start=0, killed=None, cast="", size="", used=True)

    @property
    def text(self) -> str:
        """The module as TVMScript."""
        lines, name = "", "t0"
        for number, way in enumerate(self.ways, 1):
            step = WAYS[way].replace("NEW", f"t{number}").replace("OLD", name).replace("NUM", str(number))
            lines, name = f"{lines}{step}\n", f"t{number}"
        if self.killed is not None:
            lines += f"kk0 = R.memory.kill_tensor(t{self.killed})\n"
        lines += ENDS[self.end].replace("USED", name) + f"\n{CASTS[self.cast]}\n"
        if self.size:
            storage = f'R.memory.alloc_storage(R.shape([{self.bytes}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
            lines += (
                f"s2 = {storage}\ny = R.memory.alloc_tensor(s2, R.prim_value(0), R.shape([{self.size}]), "
            )
            lines += 'R.dtype("uint8"))\nkk2 = R.vm.kill_object(y)\n'
        head = f"""
@R.function(pure=False)
def main(x: {T4}, n: R.Prim("{self.width}"), c: R.Tensor((), "bool")):
    a0 = R.assert_op(n >= T.{self.width}(0), format="")
    a1 = R.assert_op(n < T.{self.width}({BOUND}), format="")
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    before = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w0 = Module.copy(R.const([7.0, 9.0, 8.0, 6.0]), before)
    t0 = R.memory.alloc_tensor(s, R.prim_value({self.start}), R.shape([4]), R.dtype("float32"))
    w1 = Module.copy(x, t0)
"""
        body = head + indent(lines, "    ") + f"    return {'u' if self.used else 'x'}\n"
        return "@I.ir_module\nclass Module:\n" + indent(_HEAD + body, "    ")


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one thing less."""
    for at in range(len(program.ways)):
        if program.killed is None:
            yield replace(program, ways=program.ways[:at] + program.ways[at + 1 :])
    for less in ({"killed": None}, {"cast": ""}, {"size": ""}, {"start": 0}, {"used": True}):
        other = replace(program, **less)
        if other != program:
            yield other


def some(count: int, seed: int) -> Iterator[Program]:
    """Programs, the same ones for a seed."""
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        ways = tuple(chance.choice(list(WAYS)) for _ in range(chance.choice((0, 1, 1, 2, 2, 3))))
        end = chance.choice(list(ENDS))
        program = Program(chance.choice((0, 16, 16)), ways, end, used=chance.random() < 0.8)
        theme = chance.choice(("offset", "offset", "kill", "kill", "cast", "size", "size"))
        if theme == "kill":
            # RLX201 does not ask whether a use is one that TVM leaves out.
            program = replace(program, start=0, killed=chance.randint(0, len(ways)), used=True)
        elif theme == "cast":
            program = replace(program, start=0, cast=chance.choice([one for one in CASTS if one]))
        elif theme == "size":
            width = chance.choice(("int64", "int64", "int8", "int32"))
            size = _expression(chance, chance.choice(("int8", "int8", "int16", width)), width, 2)
            bytes_ = chance.choice((64, 127, 128, 256, 512, 4096))
            program = replace(program, start=0, size=f"T.Cast('int64', {size})", width=width, bytes=bytes_)
            if chance.random() < 0.6:
                program = replace(program, size=f"T.max({program.size}, T.int64(0))")
        yield program


def _expression(chance: random.Random, dtype: str, width: str, depth: int) -> str:
    """A number of a type out of `n`, which is of another one."""
    leaf = "n" if dtype == width else f"T.Cast('{dtype}', n)"
    if depth == 0:
        return leaf
    one = _expression(chance, dtype, width, depth - 1)
    form = chance.choice(("{} * {}", "{} * {}", "{} + {}", "{} - {}", "{} // {}", "{} % {}", "cast"))
    if form == "cast":
        other = chance.choice([kind for kind in ("int8", "int16", "int64", "uint8") if kind != dtype])
        if other in ("int16", "int64") and chance.random() < 0.5:
            wide = "n" if other == width else f"T.Cast('{other}', n)"
            product = f"{wide} * T.{other}({chance.choice((4, 8))})"
            return f"T.Cast('{dtype}', {product} % T.{other}({chance.choice((128, 200, 256))}))"
        return f"T.Cast('{dtype}', {_expression(chance, other, width, depth - 1)})"
    number = chance.choice((2, 3, 4, 8, 16, 100, 127))
    if "*" in form:
        number = chance.choice((2, 3, 4, 8))
    elif "%" in form and dtype != "int8":
        number = chance.choice((100, 128, 200, 256))
    return f"({form.format(one, f'T.{dtype}({number})')})"
