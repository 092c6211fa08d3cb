"""One walk over a body: every load and store with its loops, its guards and what its indices depend on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from relax_lint.vm import nodes
from relax_lint.vm.exits import exit_of
from relax_lint.vm.nodes import children_of, is_call, is_plain_call

_REDUCTION_AXIS = 2
_PARALLEL, _VECTORIZED, _THREADS = 1, 2, 4
_OF_ONE_THREAD = ("serial", "parallel", "vectorized")


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop: `kind` is serial, parallel, vectorized or the tag of threads. `extent` is its number of steps;
    None in a `while` loop. `varies` holds the loops around it on which the number depends, None among them
    where contents of buffers decide it.
    """

    name: str
    kind: str
    extent: Any
    step: Any
    varies: frozenset[Loop | None]
    var: Any = None
    first: Any = 0

    @property
    def key(self) -> int:
        """The variable, to tell it from others."""
        return 0 if self.var is None else key_of(self.var)


@dataclass(frozen=True, eq=False)
class Depends:
    """What a value is made of: the loops that it changes with, and whether contents of buffers decide it."""

    loops: frozenset[Loop] = frozenset()
    contents: bool = False


@dataclass(frozen=True, eq=False)
class Guard:
    """A condition around an access; a `negated` one does not hold there."""

    condition: Any
    depends: Depends
    negated: bool = False


@dataclass(frozen=True, eq=False)
class Access:
    """A load or a store. `surely` is False where something else than loops and guards may keep it from being
    made. `reducing` are the loops of which the block around it reduces the steps.
    """

    buffer: int
    node: Any
    stores: bool
    order: int
    loops: tuple[Loop, ...]
    guards: tuple[Guard, ...]
    surely: bool
    reducing: frozenset[Loop]
    depends: Depends
    value: Depends = field(default_factory=Depends)
    loads: tuple[Access, ...] = ()


@dataclass(eq=False)
class Internal:
    """A buffer that the kernel makes, inside some loops; `moves` if TVM may make it further inside."""

    buffer: Any
    loops: tuple[Loop, ...]
    moves: bool


class Walk:
    """Reads one body; what it finds is in the public attributes afterwards.

    `escaped` are the buffers that are used in another way than by loads and stores, `irregular` says that
    there is a statement that is not understood, or a way out: then nothing is certain. `has_unknown` says
    that it is such a statement.
    """

    def __init__(self) -> None:
        self.accesses: list[Access] = []
        self.internals: dict[int, Internal] = {}
        self.escaped: set[int] = set()
        self.irregular = self.has_unknown = False
        self.bound: list[tuple[Any, Any]] = []
        """Variables that stand for values, each with its value."""
        self._loops: tuple[Loop, ...] = ()
        self._guards: tuple[Guard, ...] = ()
        self._surely = True
        self._reducing: frozenset[Loop] = frozenset()
        self._values: dict[int, Depends] = {}

    # -- statements ----------------------------------------------------------------------------

    @property
    def has_threads(self) -> bool:
        """Whether something is done by several threads."""
        return any(loop.kind not in _OF_ONE_THREAD for access in self.accesses for loop in access.loops)

    def statement(self, node: Any) -> None:
        """Read a statement and what is inside it."""
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if exit_of(node) is not None:
            self.irregular = True
        elif handler is None:
            self.irregular = self.has_unknown = True
        else:
            handler(node)

    def _seqstmt(self, node: Any) -> None:
        for one in node.seq:
            self.statement(one)

    def _for(self, node: Any) -> None:
        kind = {_PARALLEL: "parallel", _VECTORIZED: "vectorized"}.get(int(node.kind), "serial")
        if int(node.kind) == _THREADS:
            kind = str(node.thread_binding.thread_tag)
        step = getattr(node, "step", None)
        parts = [node.min, node.extent, *([] if step is None else [step])]
        depends = self._joined([self._read(part) for part in parts])
        self._loop(node.loop_var, kind, (node.min, node.extent), step, depends, node.body)

    def _attrstmt(self, node: Any) -> None:
        if type(node.node).__name__ != "IterVar":
            self.statement(node.body)
            return
        depends = self._read(node.value)
        self._loop(node.node.var, str(node.node.thread_tag), (0, node.value), None, depends, node.body)

    def _loop(
        self, var: Any, kind: str, steps: tuple[Any, Any], step: Any, depends: Depends, body: Any
    ) -> None:
        varies: set[Loop | None] = {*depends.loops}
        if depends.contents:
            varies.add(None)
        loop = Loop(str(var.name), kind, steps[1], step, frozenset(varies), var, steps[0])
        self._values[key_of(var)] = Depends(frozenset((loop,)))
        self._loops = (*self._loops, loop)
        self.statement(body)
        self._loops = self._loops[:-1]

    def _while(self, node: Any) -> None:
        kept, self._surely = self._surely, False
        self._loops = (*self._loops, Loop("", "serial", None, None, frozenset((None,))))
        self._read(node.condition)
        self.statement(node.body)
        self._loops, self._surely = self._loops[:-1], kept

    def _ifthenelse(self, node: Any) -> None:
        depends, kept = self._read(node.condition), self._guards
        self._guards = (*kept, Guard(node.condition, depends))
        self.statement(node.then_case)
        self._guards = (*kept, Guard(node.condition, depends, negated=True))
        if node.else_case is not None:
            self.statement(node.else_case)
        self._guards = kept

    def _sblockrealize(self, node: Any) -> None:
        block, guards, reducing = node.block, self._guards, self._reducing
        for axis, value in zip(block.iter_vars[:], node.iter_values[:], strict=True):
            depends = self._read(value)
            self._name(axis.var, value, depends)
            if int(axis.iter_type) == _REDUCTION_AXIS and block.init is not None:
                self._reducing |= depends.loops
        if not nodes.is_constant_true(node.predicate):
            self._guards = (*guards, Guard(node.predicate, self._read(node.predicate)))
        for buffer in block.alloc_buffers:
            self.internals[key_of(buffer)] = Internal(buffer, self._loops, moves=True)
        for match in block.match_buffers:
            self.escaped |= {key_of(match.buffer), key_of(nodes.region_source(match.source))}
            for part in match.source.region[:]:
                self._read_perhaps(part.min, part.extent)
            self._read_layout(match.buffer)
        if block.init is not None:
            # It is made in the first step of the loops that are reduced.
            kept, self._surely = self._surely, False
            self.statement(block.init)
            self._surely = kept
        self.statement(block.body)
        self._guards, self._reducing = guards, reducing

    def _allocbuffer(self, node: Any) -> None:
        self.internals[key_of(node.buffer)] = Internal(node.buffer, self._loops, moves=False)
        self._read_layout(node.buffer)

    def _declbuffer(self, node: Any) -> None:
        self._read(node.data)
        self.escaped.add(key_of(node.buffer))
        self._read_layout(node.buffer)

    def _bind(self, node: Any) -> None:
        self._name(node.var, node.value, self._read(node.value))

    def _name(self, var: Any, value: Any, depends: Depends) -> None:
        """From here on a variable stands for a value."""
        self._values[key_of(var)] = depends
        if not depends.contents and type(getattr(var, "ty", None)).__name__ == "PrimType":
            self.bound.append((var, value))

    def _evaluate(self, node: Any) -> None:
        self._read(node.value)

    def _bufferstore(self, node: Any) -> None:
        start = len(self.accesses)
        value = self._read(node.value)
        indices = self._joined([self._read(index) for index in node.indices[:]])
        loads = tuple(self.accesses[start:])
        self._touch(node, node.buffer, True, indices, value, loads)

    def _touch(
        self,
        node: Any,
        buffer: Any,
        stores: bool,
        depends: Depends,
        value: Depends,
        loads: tuple[Access, ...],
    ) -> None:
        self.accesses.append(
            Access(
                key_of(buffer),
                node,
                stores,
                len(self.accesses),
                self._loops,
                self._guards,
                self._surely,
                self._reducing,
                depends,
                value,
                loads,
            )
        )

    # -- expressions ---------------------------------------------------------------------------

    def _read_layout(self, buffer: Any) -> None:
        """Where the elements of a buffer are, which is computed where one of them is used."""
        self._read_perhaps(*buffer.shape[:], *buffer.strides[:], buffer.elem_offset)

    def _read_perhaps(self, *expressions: Any) -> None:
        kept, self._surely = self._surely, False
        for one in expressions:
            self._read(one)
        self._surely = kept

    def _read(self, node: Any) -> Depends:
        """What an expression depends on; its loads are noted."""
        if isinstance(node, (int, float, str)):
            return Depends()
        kind = type(node).__name__
        if kind == "Var":
            if type(node.ty).__name__ == "BufferType":
                self.escaped.add(key_of(node))
            return self._values.get(key_of(node), Depends())
        if nodes.is_load(node):
            indices = self._joined([self._read(index) for index in node.indices[:]])
            self._touch(node, nodes.loaded_buffer(node), False, indices, Depends(), ())
            return Depends(indices.loops, contents=True)
        element = nodes.addressed(node)
        if element is not None:
            # Nothing is loaded; what is done there is not known.
            self.escaped.add(key_of(nodes.loaded_buffer(element)))
            return self._joined([self._read(index) for index in element.indices[:]])
        if kind == "Let":
            self._name(node.var, node.value, self._read(node.value))
            return self._read(node.body)
        if nodes.expression_kind(node) == "Select":
            return self._choice(*(node.args if is_call(node) else children_of(node)))
        if kind in ("And", "Or"):
            return self._choice(node.a, node.b)
        start = len(self.accesses)
        depends = self._joined([self._read(child) for child in children_of(node)])
        if is_call(node) and not is_plain_call(node):
            # What it does with the elements that it names is not known.
            self.escaped |= {access.buffer for access in self.accesses[start:]}
        return depends

    def _choice(self, condition: Any, *sides: Any) -> Depends:
        """Which side is read, or counts, depends on the condition."""
        first = self._read(condition)
        kept, self._surely = self._surely, False
        others = [self._read(side) for side in sides]
        self._surely = kept
        return self._joined([first, *others])

    def _joined(self, parts: Sequence[Depends]) -> Depends:
        return Depends(frozenset().union(*(one.loops for one in parts)), any(one.contents for one in parts))


def key_of(var: Any) -> int:
    """What tells a variable or a buffer from others."""
    return int(var.__chandle__())
