"""The buffers that a kernel makes itself, read from a PrimFunc as TVM's kernel passes leave it.

Those passes move, shrink and share buffers, so the PrimFunc that a module holds does not tell. A buffer lives
from where it is made to the end of the statement list, loop or branch around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import sympy

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernels import KernelParameter
from relax_lint.model.prim_funcs import read_parameter
from relax_lint.model.read_types import read_dtype
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm.workspaces import ON_CHIP, is_on_stack

_PARALLEL = 1
_PACKED = ("tirx.tvm_call_packed", "tirx.tvm_call_cpacked", "tirx.call_extern", "tirx.call_pure_extern")


@dataclass(frozen=True)
class KernelBuffer:
    """A buffer of a kernel, in bytes."""

    name: str
    scope: str
    size: Size


@dataclass(frozen=True)
class ExternalCall:
    """A call of a function outside of the module. `extents` are those of the first tensor that it receives,
    `numbers` the integers among its arguments by position.
    """

    name: str
    extents: tuple[Size, ...] = ()
    numbers: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class KernelBuffers:
    """The buffers of one kernel, over the symbols of its `parameters`.

    `workspaces` come from the workspace pool, and `events` is their order as in a walk: `i + 1` where number
    `i` is made, `-(i + 1)` where it ends. `stack` and `on_chip` cost no memory of the device. `calls` are the
    functions outside of the module that the kernel calls. `threaded` are the numbers of the workspaces that
    each thread of a parallel loop requests for itself. `uncertain` is why the events are not those of every
    call.
    """

    parameters: tuple[KernelParameter, ...] = ()
    workspaces: tuple[KernelBuffer, ...] = ()
    events: tuple[int, ...] = ()
    stack: tuple[KernelBuffer, ...] = ()
    on_chip: tuple[KernelBuffer, ...] = ()
    calls: tuple[ExternalCall, ...] = ()
    threaded: frozenset[int] = frozenset()
    uncertain: str | None = None


def read_buffers(prim_func: Any, *, target_is_cpu: bool) -> KernelBuffers:
    """The buffers of a PrimFunc that went through TVM's kernel passes."""
    reader = _Reader(target_is_cpu)
    parameters = tuple(read_parameter(var, reader.translator, reader.loops) for var in prim_func.params)
    reader.loops.close_signature()
    reader.scope(prim_func.body)
    return KernelBuffers(
        parameters,
        tuple(reader.workspaces),
        tuple(reader.events),
        tuple(reader.stack),
        tuple(reader.on_chip),
        tuple(dict.fromkeys(reader.calls)),
        frozenset(reader.threaded),
        reader.uncertain,
    )


def has_buffers(prim_func: Any) -> bool:
    """Whether a PrimFunc, as a module holds it, makes a buffer or calls a function outside of the module."""
    return any(
        (kind == "SBlock" and len(node.alloc_buffers) > 0) or kind == "AllocBuffer" or _called(node)
        for kind, node in ((type(node).__name__, node) for node in _statements(prim_func.body))
    )


def _statements(body: Any) -> Iterator[Any]:
    """Every statement inside another one."""
    pending = [body]
    while pending:
        node = pending.pop()
        yield node
        for name in ("body", "block", "then_case", "else_case", "init"):
            child = getattr(node, name, None)
            if child is not None:
                pending.append(child)
        pending.extend(getattr(node, "seq", ()))


def _called(node: Any) -> str | None:
    """The function outside of the module that a statement calls."""
    call: Any = getattr(node, "value", None)
    if type(call).__name__ != "Call" or str(getattr(call.op, "name", "")) not in _PACKED or not call.args:
        return None
    return str(getattr(call.args[0], "value", call.args[0]))


@dataclass
class _Reader:
    """Reads one body; the findings are in its public attributes afterwards."""

    target_is_cpu: bool
    workspaces: list[KernelBuffer] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    stack: list[KernelBuffer] = field(default_factory=list)
    on_chip: list[KernelBuffer] = field(default_factory=list)
    calls: list[ExternalCall] = field(default_factory=list)
    threaded: set[int] = field(default_factory=set)
    uncertain: str | None = None

    def __post_init__(self) -> None:
        self.loops = Loops()
        self.translator = Translator(self.loops.symbol_of)
        self._branches = self._parallel = 0

    def scope(self, node: Any) -> None:
        """Read a body at the end of which its buffers end."""
        before = len(self.workspaces)
        self._statement(node)
        ended = {-event - 1 for event in self.events if event < 0}
        for number in reversed(range(before, len(self.workspaces))):
            if number not in ended:
                self.events.append(-(number + 1))

    def _statement(self, node: Any) -> None:
        handler = _HANDLERS.get(type(node).__name__)
        called = _called(node)
        if called is not None:
            self.calls.append(self._external(called, node.value))
        if handler is not None:
            handler(self, node)

    def _sequence(self, node: Any) -> None:
        for statement in node.seq:
            self._statement(statement)

    def _for(self, node: Any) -> None:
        parallel = int(node.kind) == _PARALLEL
        self._parallel += parallel
        self.scope(node.body)
        self._parallel -= parallel

    def _while(self, node: Any) -> None:
        self.scope(node.body)

    def _if(self, node: Any) -> None:
        self._branches += 1
        self.scope(node.then_case)
        if node.else_case is not None:
            self.scope(node.else_case)
        self._branches -= 1

    def _inside(self, node: Any) -> None:
        self.scope(node.body)

    def _bind(self, node: Any) -> None:
        try:
            self.translator.know(node.var, self.translator.expr(node.value))
        except (Untranslatable, AttributeError):
            return

    def _allocate(self, node: Any) -> None:
        made = self._buffer(node.buffer)
        size = None if isinstance(made.size, Unknown) or not made.size.is_Integer else int(made.size)
        if made.scope.startswith(ON_CHIP) and not self.target_is_cpu:
            self.on_chip.append(made)
        elif self.target_is_cpu and is_on_stack(made.scope, size):
            self.stack.append(made)
        else:
            self.workspaces.append(made)
            self.events.append(len(self.workspaces))
            if self._parallel:
                self.threaded.add(len(self.workspaces) - 1)
            if self._branches and self.uncertain is None:
                self.uncertain = f"it allocates `{made.name}` in a branch"

    def _external(self, name: str, call: Any) -> ExternalCall:
        extents: list[Size] = []
        for argument in call.args[1:]:
            if type(argument).__name__ == "Call" and str(argument.op.name).endswith("make_array"):
                extents = [self._extent(name, extent) for extent in argument.args[1].args]
                break
        numbers = [
            (position, int(argument.value))
            for position, argument in enumerate(call.args)
            if type(argument).__name__ == "IntImm"
        ]
        return ExternalCall(name, tuple(extents), tuple(numbers))

    def _extent(self, name: str, extent: Any) -> Size:
        try:
            size = self.translator.expr(extent)
        except (Untranslatable, AttributeError):
            return Unknown(f"an extent that `{name}` receives is not an integer expression")
        if not self.loops.in_signature(size):
            return Unknown(f"an extent that `{name}` receives changes inside the kernel")
        return size

    def _buffer(self, buffer: Any) -> KernelBuffer:
        name, scope = (
            str(buffer.name) or "a buffer",
            str(buffer.scope() if callable(buffer.scope) else buffer.scope),
        )
        try:
            extents = [self.translator.expr(extent) for extent in buffer.shape]
        except (Untranslatable, AttributeError):
            return KernelBuffer(name, scope, Unknown(f"the size of `{name}` is not an integer expression"))
        size = sympy.Mul(read_dtype(buffer.dtype).storage_bytes, *extents)
        if not self.loops.in_signature(size):
            return KernelBuffer(name, scope, Unknown(f"the size of `{name}` changes inside the kernel"))
        return KernelBuffer(name, scope, size)


_HANDLERS: dict[str, Callable[[_Reader, Any], None]] = {
    "SeqStmt": _Reader._sequence,
    "For": _Reader._for,
    "While": _Reader._while,
    "IfThenElse": _Reader._if,
    "AttrStmt": _Reader._inside,
    "Bind": _Reader._bind,
    "AllocBuffer": _Reader._allocate,
}
