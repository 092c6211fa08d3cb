"""Memory programs as plain data, and their TVMScript.

A program is a few functions of a module. Extents and sizes are texts that mean the same in TVMScript and in
Python (`m * 4`, `(m + 3) // 4`, `T.max(m, 3)`). Every binding has a name of its own, so that a check tells
which operation it is about. `repr` of a program is Python that makes it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"

KERNELS = """
    @T.prim_func(private=True, s_tir=True)
    def fill(a: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64())
        for i in range(n):
            x[i] = T.float32(7)

    @T.prim_func(private=True, s_tir=True)
    def double(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64())
        y = T.match_buffer(b, (n,), "float32", elem_offset=T.int64())
        for i in range(n):
            y[i] = x[i] * T.float32(2)

    @T.prim_func(private=True, s_tir=True)
    def accumulate(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64())
        y = T.match_buffer(b, (n,), "float32", elem_offset=T.int64())
        for i in range(n):
            y[i] = y[i] + x[i]

    @T.prim_func(private=True, s_tir=True)
    def some(a: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64())
        for i in range(n):
            if i < 2:
                x[i] = T.float32(7)

    @T.prim_func(private=True, s_tir=True)
    def twice(a: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64())
        for i in range(n):
            x[i] = x[i] * T.float32(2)

    @T.prim_func(private=True, s_tir=True)
    def fill_0(a: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        for i in range(n):
            x[i] = T.float32(7)

    @T.prim_func(private=True, s_tir=True)
    def double_0(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (n,), "float32", elem_offset=T.int64())
        for i in range(n):
            y[i] = x[i] * T.float32(2)
"""

HELPERS = """
    @R.function(pure=False, private=True)
    def maybe(t: R.Tensor(("p",), "float32"), c: R.Tensor((), "bool")):
        if c:
            w = Module.fill(t)
            r = t
        else:
            r = t
        return r

    @R.function(pure=False, private=True)
    def shift(a: R.Tensor(("p",), "float32"), b: R.Tensor(("p",), "float32")):
        w = Module.fill(b)
        v = Module.accumulate(a, b)
        return b

    @R.function(pure=False, private=True)
    def back(t: R.Tensor(("p",), "float32"), x: R.Tensor(("q",), "float32")):
        return ((x, t), x)

    @R.function(pure=False, private=True)
    def put(s: R.Object, x: R.Tensor(("p",), "float32")) -> R.Tensor(("p",), "float32"):
        p = T.int64()
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([p]), R.dtype("float32"))
        w = Module.double(x, t)
        return t
"""


@dataclass(frozen=True)
class Storage:
    """`level` is `memory` (size in bytes) or `vm` (size in elements of `dtype`)."""

    name: str
    level: str
    size: str
    dtype: str = "uint8"


@dataclass(frozen=True)
class Tensor:
    """A tensor on a storage, or (storage None) one of `R.builtin`."""

    name: str
    level: str
    storage: str | None
    offset: str
    shape: tuple[str, ...]
    dtype: str = "float32"


@dataclass(frozen=True)
class Guard:
    """`R.assert_op`."""

    name: str
    condition: str


@dataclass(frozen=True)
class Cast:
    """`R.match_cast` of the parameter `x` to a shape of one extent."""

    name: str
    extent: str


@dataclass(frozen=True)
class Other:
    """Another name of a tensor: `kind` is alias, copy, back (a field of nested tuples that a function returns) or
    made (a field of a tuple of the VM).
    """

    name: str
    kind: str
    source: str


@dataclass(frozen=True)
class View:
    """The bytes of a tensor of float32 as one of another extent: `kind` is view (`R.memory.view`) or reshape."""

    name: str
    kind: str
    source: str
    extent: str


@dataclass(frozen=True)
class Kill:
    """`kind` is tensor or storage."""

    name: str
    kind: str
    target: str


@dataclass(frozen=True)
class Kernel:
    """A call of `fill`, `some`, `double` or `accumulate`; of `fill_0` and `double_0` the first argument has to start
    at 0.
    """

    name: str
    kernel: str
    arguments: tuple[str, ...]

    @property
    def does(self) -> str:
        """What the kernel does with contents."""
        return self.kernel.removesuffix("_0")

    @property
    def starts_at_zero(self) -> bool:
        """Whether the kernel refuses a first argument at an offset."""
        return self.kernel.endswith("_0")


@dataclass(frozen=True)
class InPlace:
    """`R.call_tir_inplace` of `twice`: what it makes of `source` has a new name."""

    name: str
    source: str
    extent: str


@dataclass(frozen=True)
class Invoke:
    """A call of another function with the parameters of this one."""

    name: str
    function: str


@dataclass(frozen=True)
class Helper:
    """A call of a private function of `HELPERS`, or (`renamed`) of another name of it: `maybe` fills a tensor where
    `c` holds, `shift` fills the second one and adds the first, `put` doubles `x` onto a storage.
    """

    name: str
    helper: str
    arguments: tuple[str, ...]
    renamed: bool = False


@dataclass(frozen=True)
class Branch:
    """`if c:`."""

    name: str
    then: tuple[Step, ...]
    other: tuple[Step, ...]


Step: TypeAlias = (
    Storage | Tensor | Guard | Cast | Other | View | Kill | Kernel | InPlace | Invoke | Helper | Branch
)


@dataclass(frozen=True)
class Function:
    """`name(x: float32[m], z: int8[n], k: int64, c: bool[])`; `upper` declares bounds of m and n."""

    name: str
    steps: tuple[Step, ...]
    result: tuple[str, ...]
    upper: tuple[tuple[str, int], ...] = ()

    def walk(self) -> Iterator[Step]:
        """Every step, branches included."""
        yield from _walk(self.steps)


@dataclass(frozen=True)
class Program:
    """Functions; one may call those before it."""

    functions: tuple[Function, ...]


def _walk(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        if isinstance(step, Branch):
            yield from _walk(step.then)
            yield from _walk(step.other)


def named(program: Program, name: str) -> Function:
    """A function by its name."""
    return next(function for function in program.functions if function.name == name)


def is_planned_across_branches(program: Program) -> bool:
    """Whether a tensor without a storage stands in a branch: TVM's planner may put one of another branch on the
    same storage (apache/tvm#20191), and the machine does not survive that.
    """
    branches = (
        step for function in program.functions for step in function.walk() if isinstance(step, Branch)
    )
    inside = (step for branch in branches for step in _walk((*branch.then, *branch.other)))
    return any(isinstance(step, Tensor) and step.storage is None for step in inside)


def text(program: Program) -> str:
    """The program as a TVMScript file."""
    steps = [step for function in program.functions for step in function.walk()]
    helpers = (
        HELPERS
        if any(isinstance(s, Helper) or (isinstance(s, Other) and s.kind == "back") for s in steps)
        else ""
    )
    return HEADER + KERNELS.lstrip("\n") + helpers + "".join(map(_function, program.functions))


def _function(function: Function) -> str:
    lines = [
        "",
        "    @R.function(pure=False)",
        f"    def {function.name}("
        'x: R.Tensor(("m",), "float32"), z: R.Tensor(("n",), "int8"), k: R.Prim("int64"),'
        ' c: R.Tensor((), "bool")):',
        "        m = T.int64()",
        "        n = T.int64()",
    ]
    if function.upper:
        lines.append(f'        R.func_attr({{"tir_var_upper_bound": {dict(function.upper)!r}}})')
    lines += _block(function.steps, "        ")
    result = function.result[0] if len(function.result) == 1 else f"({', '.join(function.result)})"
    return "\n".join([*lines, f"        return {result}", ""])


def _block(steps: tuple[Step, ...], margin: str) -> list[str]:
    lines: list[str] = []
    for step in steps:
        if isinstance(step, Branch):
            for head, body in (("if c:", step.then), ("else:", step.other)):
                lines += [margin + head, *_block(body, margin + "    "), f"{margin}    {step.name} = z"]
        else:
            lines += [margin + line for line in _before(step)]
            lines.append(f"{margin}{step.name} = {_value(step)}")
    return lines


def _before(step: Step) -> list[str]:
    """The bindings that a step needs before its own."""
    if isinstance(step, Helper) and step.renamed:
        return [f"{step.name}_f = Module.{step.helper}"]
    if isinstance(step, Other) and step.kind == "back":
        return [f"{step.name}_p = Module.back({step.source}, x)", f"{step.name}_q = {step.name}_p[0]"]
    if isinstance(step, Other) and step.kind == "made":
        fields = 'R.Tuple(R.Tensor("float32", ndim=1), R.Tensor("float32", ndim=1))'
        return [f'{step.name}_p = R.call_packed("vm.builtin.make_tuple", x, {step.source}, ty_args={fields})']
    return []


def _value(step: Step) -> str:
    if isinstance(step, Storage):
        device, scope = "R.prim_value(0)", 'R.str("global")'
        dtype = f'R.dtype("{step.dtype}")'
        order = (device, scope, dtype) if step.level == "memory" else (device, dtype, scope)
        return f"R.{step.level}.alloc_storage(R.shape([{step.size}]), {', '.join(order)})"
    if isinstance(step, Tensor):
        shape, dtype = f"R.shape([{', '.join(step.shape)}])", f'R.dtype("{step.dtype}")'
        if step.storage is None:
            return f'R.builtin.alloc_tensor({shape}, {dtype}, R.prim_value(0), R.str("global"))'
        return f"R.{step.level}.alloc_tensor({step.storage}, R.prim_value({step.offset}), {shape}, {dtype})"
    if isinstance(step, Guard):
        return f'R.assert_op({step.condition}, [], format="")'
    if isinstance(step, Cast):
        return f'R.match_cast(x, R.Tensor(({step.extent},), "float32"))'
    if isinstance(step, Other):
        return {
            "alias": step.source,
            "back": f"{step.name}_q[1]",
            "made": f"{step.name}_p[1]",
            "copy": f'R.call_packed("vm.builtin.copy", {step.source}, ty_args=R.Tensor("float32", ndim=1))',
        }[step.kind]
    if isinstance(step, View):
        shape = f"R.shape([{step.extent}])"
        if step.kind == "view":
            return f"R.memory.view({step.source}, {shape})"
        type_ = f'R.Tensor(({step.extent},), "float32")'
        return f'R.call_packed("vm.builtin.reshape", {step.source}, {shape}, ty_args={type_})'
    if isinstance(step, Kill):
        return f"R.memory.kill_{step.kind}({step.target})"
    if isinstance(step, Kernel):
        return f"Module.{step.kernel}({', '.join(step.arguments)})"
    if isinstance(step, InPlace):
        type_ = f'R.Tensor(({step.extent},), "float32")'
        return f"R.call_tir_inplace(Module.twice, ({step.source},), [0], {type_})"
    if isinstance(step, Helper):
        callee = f"{step.name}_f" if step.renamed else f"Module.{step.helper}"
        more = ("c",) if step.helper == "maybe" else ()
        return f"{callee}({', '.join((*step.arguments, *more))})"
    assert isinstance(step, Invoke)
    return f"Module.{step.function}(x, z, k, c)"
