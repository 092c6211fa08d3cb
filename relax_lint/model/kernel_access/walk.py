"""The walk over the statements of a PrimFunc."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sympy

from relax_lint.model.kernel_access import conditions as c
from relax_lint.model.kernel_access.accesses import BufferRef, LoopRange, Region
from relax_lint.model.kernel_access.asserted import checked_by
from relax_lint.model.kernel_access.atoms import Kind, span_of
from relax_lint.model.kernel_access.conditions import Condition, Unread
from relax_lint.model.kernel_access.extents import Extents
from relax_lint.model.kernel_access.few_bits import Value
from relax_lint.model.kernel_access.layouts import Buffer
from relax_lint.model.kernel_access.outside import reach
from relax_lint.model.kernel_access.polynomials import ONE, ZERO, Poly
from relax_lint.model.kernel_access.survey import Survey, always_leaves
from relax_lint.vm import nodes, versions

_KINDS = ("serial", "parallel", "vectorized", "unrolled", "thread_binding")
_REDUCTION_AXIS = 2
_MAY_LEAVE = Unread("a statement before it may leave the loop or the kernel")
_MAY_NOT_RUN = Unread("an earlier step may leave the loop or the kernel")


class Walk(Extents):
    """Reads one body."""

    def __init__(self, survey: Survey, functions: Mapping[str, Any]) -> None:
        super().__init__(survey, functions)
        self._count = 0
        self.symbols: tuple[sympy.Symbol, ...] = ()

    # -- the signature -------------------------------------------------------------------------

    def signature(self, params: Sequence[Any], named: Mapping[Any, sympy.Symbol]) -> tuple[sympy.Symbol, ...]:
        """The symbols: scalars first, then those of the shapes in order, then what else has a name."""
        symbols: list[sympy.Symbol] = []
        names = {symbol.name for symbol in named.values()}
        given = {var.__chandle__(): symbol for var, symbol in named.items()}
        extents = [extent for var in params for extent in _shape_of(var)]
        plain = {extent.__chandle__() for extent in extents if _is_variable(extent)}

        def add(var: Any) -> None:
            address, span = var.__chandle__(), span_of(str(var.ty.dtype))
            if address in self.known or span is None:
                return
            symbol = given.get(address) or sympy.Symbol(_unique(str(var.name), names), integer=True)
            names.add(symbol.name)
            symbols.append(symbol)
            self.known[address] = self.terms.symbol(symbol, (0 if address in plain else span[0], span[1]))

        for var in (*params, *extents, *named):
            if _is_variable(var) and type(var.ty).__name__ == "PrimType":
                add(var)
        for position, var in enumerate(params):
            if type(var.ty).__name__ == "BufferType":
                is_compact = not len(getattr(var, "strides", None) or ())
                buffer = self._new(var, var, parameter=position, is_compact=is_compact)
                self.told.update(filter(None, buffer.shape))
        return tuple(symbols)

    # -- buffers -------------------------------------------------------------------------------

    def declare(self, var: Any) -> Buffer:
        """A buffer that nothing was said of before."""
        return self._new(var, var)

    def _new(self, var: Any, typed: Any, *, parameter: int | None = None, **more: Any) -> Buffer:
        number, source = self._count, more.get("source")
        self._count += 1
        dtype = str(typed.dtype)
        ref = BufferRef(
            number,
            number if source is None else source.ref.root,
            str(var.name),
            parameter if source is None else source.ref.parameter,
            _scope_of(typed),
            dtype,
        )
        shape = tuple([self.number(extent) for extent in typed.shape[:]])
        bits, lanes = versions.dtype_bits(dtype)
        if source is not None and source.ref.dtype != dtype and (bits % 8 or source.item % 8):
            # Of elements of few bits targets make whole bytes, or do not.
            bits = 0
        buffer = Buffer(ref, shape, span_of(dtype), item=bits * lanes, **more)
        self.buffers[var.__chandle__()] = buffer
        return buffer

    def _allocate(self, node: Any) -> None:
        self._own(node.buffer)
        self.allocated[self.buffer(node.buffer).ref.root] = len(self.nest)

    def _own(self, buffer: Any, *, may_move: bool = False) -> None:
        """A buffer that the kernel allocates."""
        strides = tuple(self.number(stride) for stride in buffer.strides or ())
        offset = ZERO if buffer.elem_offset is None else self.number(buffer.elem_offset)
        if offset is None:
            offset = self.terms.opaque("elem_offset")
        start = None if offset == ZERO else offset
        self._new(buffer, buffer, strides=strides, offset=start, may_move=may_move)

    def _declare_buffer(self, node: Any) -> None:
        shown = self.pointed(node.data)
        if shown is None:
            self.value(node.data)
            self._new(node.buffer, node.buffer)
            return
        # A view of a view starts where the memory does.
        root = next(b for b in self.buffers.values() if b.ref.number == shown.buffer.ref.root)
        buffer = node.buffer
        offset = self.number(buffer.elem_offset) if buffer.elem_offset is not None else ZERO
        bits, lanes = versions.dtype_bits(str(buffer.dtype))
        begin = shown.counted(bits * lanes)
        offset = None if offset is None or begin is None else offset + begin
        strides = tuple(self.number(stride) for stride in buffer.strides or ())
        self._new(buffer, buffer, source=root, view=True, offset=offset, strides=strides)

    def _window(self, match: Any) -> None:
        region = match.source
        source = self.buffer(nodes.region_source(region))
        starts = tuple(self.number(part.min) for part in region.region)
        self._new(match.buffer, match.buffer, source=source, starts=starts)
        for var in (match.buffer.elem_offset, *(match.buffer.strides or ())):
            # What the window finds out about its place is any number.
            if var is not None and _is_variable(var) and var.__chandle__() not in self.known:
                self.known[var.__chandle__()] = self.terms.opaque(str(var.name))

    # -- statements ----------------------------------------------------------------------------

    def statement(self, node: Any) -> None:
        """Read a statement and what is inside it."""
        handler = _STATEMENTS.get(type(node).__name__)
        if handler is None:
            self.unread(f"the kernel has a statement of the kind {type(node).__name__}")
        else:
            handler(self, node)

    @contextmanager
    def scope(self, *facts: Condition, other: Region | None = None, starts: bool = False) -> Iterator[Region]:
        """What is learned inside does not hold behind it. It runs where the `other` region does not, or is
        what `starts` a reduction.
        """
        before, promises, scalars, regions = self.facts, self.promises, dict(self.scalars), self.regions
        region = self.region(other, starts=starts)
        self.regions = (*regions, region)
        self.facts = (*before, *(fact for fact in facts if fact is not True))
        yield region
        self.facts, self.promises, self.regions = before, promises, regions
        now = self.scalars
        self.scalars = {key: value for key, value in scalars.items() if now.get(key) == value}

    def _sequence(self, node: Any) -> None:
        for statement in node.seq:
            self.statement(statement)
            if self.survey.of(statement)[1] and type(statement).__name__ != "IfThenElse":
                # What comes behind a way out is not reached.
                self.facts = (*self.facts, False if always_leaves(statement) else _MAY_LEAVE)

    def _for(self, node: Any) -> None:
        first, extent = self.bound(node.min), self.bound(node.extent, extent=True)
        kind = _KINDS[int(node.kind)] if int(node.kind) < len(_KINDS) else "serial"
        binding = node.thread_binding
        tag = "" if binding is None else str(binding.thread_tag)
        step = getattr(node, "step", None)
        stride = ONE if step is None else self.number(step)
        above = self.not_above(node.extent, extent)
        with self.scope(above):
            checked = self._loop(node.loop_var, first, extent, stride, kind, tag, node.body)
        if above is True:
            self.facts = (*self.facts, *checked)

    def _loop(
        self,
        var: Any,
        first: Poly | None,
        extent: Poly | None,
        stride: Poly | None,
        kind: str,
        tag: str,
        body: Any,
    ) -> tuple[Condition, ...]:
        """Read a loop; what it has checked."""
        value, loop = self.variable_of(str(var.name), first, extent, stride, kind, tag)
        thread = self.threads.get(tag)
        if tag and thread is not None:
            value, loop = thread, LoopRange(kind, thread, first, extent, tag)
        self.known[var.__chandle__()] = value
        threads = self.threads
        if tag and not tag.startswith("vthread"):
            self.threads = {**threads, tag: value}
        self.forget(self.roots_stored_in(body))
        leaves = self.survey.of(body)[1] - {"continue"}
        before, self.nest = self.nest, (*self.nest, loop)
        with self.scope(*((_MAY_NOT_RUN,) if leaves else ())):
            known = len(self.facts)
            self.statement(body)
            checked = self.facts[known:]
        self.nest, self.threads = before, threads
        return () if self.survey.of(body)[1] else tuple(checked_by(self.terms, loop, checked))

    def _while(self, node: Any) -> None:
        self.forget(self.roots_stored_in(node.body))
        before, self.nest = self.nest, (*self.nest, LoopRange("while"))
        condition = self.guard(node.condition)
        leaves = self.survey.of(node.body)[1] - {"continue"}
        with self.scope(condition, *((_MAY_NOT_RUN,) if leaves else ())):
            self.statement(node.body)
        self.nest = before

    def _if(self, node: Any) -> None:
        condition = self.guard(node.condition)
        before = dict(self.scalars)
        checked: list[Condition] = []
        with self.scope(condition) as then:
            known = len(self.facts)
            self.statement(node.then_case)
            checked.append(c.any_of((c.negated(condition), c.every(self.facts[known:]))))
        after, self.scalars = self.scalars, before
        if node.else_case is not None:
            with self.scope(c.negated(condition), other=then):
                known = len(self.facts)
                self.statement(node.else_case)
                checked.append(c.any_of((condition, c.every(self.facts[known:]))))
        self.scalars = {key: value for key, value in self.scalars.items() if after.get(key) == value}
        if always_leaves(node):
            # Neither way comes here.
            self.facts = (*self.facts, False)
        elif always_leaves(node.then_case):
            self.facts = (*self.facts, c.negated(condition))
        elif self.survey.of(node)[1]:
            self.facts = (*self.facts, _MAY_LEAVE)
        else:
            # Who comes here has passed what each branch asserts.
            more = (one for one in checked if one is not True and not c.is_unread(one))
            self.facts = (*self.facts, *more)

    def _attribute(self, node: Any) -> None:
        if type(node.node).__name__ == "IterVar":
            axis = node.node
            tag = str(axis.thread_tag)
            self._loop(axis.var, ZERO, self.bound(node.value), ONE, "thread_binding", tag, node.body)
        else:
            self.statement(node.body)

    def _realize(self, node: Any) -> None:
        values = [self.settled(value) for value in node.iter_values[:]]
        block = node.block
        predicate = True if nodes.is_constant_true(node.predicate) else self.guard(node.predicate)
        blocks, self.blocks = self.blocks, (*self.blocks, block)
        with self.scope(predicate):
            for axis, value in zip(block.iter_vars[:], values, strict=True):
                self.bind(axis.var, value)
            for buffer in block.alloc_buffers:
                self._own(buffer, may_move=True)
                self.allocated[self.buffer(buffer).ref.root] = None
            for match in block.match_buffers:
                self._window(match)
            if block.init is not None:
                with self.scope(*self._first_step(block, values), starts=True):
                    self.statement(block.init)
            self.statement(block.body)
        self.blocks = blocks

    def _first_step(self, block: Any, values: Sequence[Any]) -> Iterator[Condition]:
        """What holds where a block is initialised: each axis that it reduces is at its start."""
        for axis, value in zip(block.iter_vars, values, strict=True):
            if int(axis.iter_type) == _REDUCTION_AXIS:
                least = self.number(axis.dom.min)
                if isinstance(value, Poly) and least is not None:
                    yield c.equal(value, least)
                else:
                    yield Unread("it is made in the first step of a reduction")

    def _store(self, node: Any) -> None:
        found = self.value(node.value)
        wraps = dict.fromkeys(self.wraps)
        value = self.settled_again(node.value, found, self.value)
        indices = self.indices(node.indices)
        buffer = self.buffer(node.buffer)
        if value is None and buffer.span is not None and self._is_counted(node.value):
            value = self.terms.opaque(buffer.ref.name, buffer.span)
        predicate = getattr(node, "predicate", None)
        guard = True if predicate is None else Unread("it is under a predicate of lanes")
        with self.under(guard):
            self.access(buffer, indices, node, writes=True)
        if buffer.ref.parameter is None:
            value = self.in_memory(value, buffer.ref.dtype)
            self.stored(buffer, indices, value, self._of_its_type(value, node.value))
            return
        if isinstance(found, Poly) and self._of_its_type(found, node.value) != found:
            wraps[found] = None
        self.stored(buffer, indices, found, found)
        self.result(buffer, indices, found, tuple(wraps))

    def _of_its_type(self, found: Value, node: Any) -> Value:
        """What becomes of a number in memory of its type. Of what is counted up in memory the last step is
        left to the loops around it.
        """
        bits = {"int32": 32, "int64": 64}.get(str(node.ty.dtype).partition("x")[0])
        if bits is None or not isinstance(found, Poly) or found.single() is not None:
            return found
        low, high = self.terms.span(found)
        if (low or 0) >= -(2 ** (bits - 1)) and (high or 0) < 2 ** (bits - 1):
            loaded = any(self.terms[atom].kind is Kind.LOADED for atom in reach(self.terms, found.atoms()))
            if loaded or bits == 64 or None not in (low, high):
                return found
        if bits == 64:
            return self.terms.opaque("wrapped")
        return self._wrapped((found,)) if self.wraps_around((found,)) else found

    def _is_counted(self, node: Any) -> bool:
        """Whether an integer is computed from sizes and loops alone, even if it cannot be expressed."""
        if _is_variable(node):
            known = self.known.get(node.__chandle__())
            return isinstance(known, Poly) and not self.is_from_data((known,))
        parts = [getattr(node, name, None) for name in ("a", "b", "value")]
        operands = [part for part in parts if part is not None and not isinstance(part, int)]
        return isinstance(getattr(node, "value", None), int) or (
            bool(operands) and all(map(self._is_counted, operands))
        )

    def _bind(self, node: Any) -> None:
        self.bind(node.var, self.settled(node.value))

    def _evaluate(self, node: Any) -> None:
        self.value(node.value)

    def _assert(self, node: Any) -> None:
        fact = self.guard(node.condition)
        if not isinstance(fact, Unread):
            self.facts = (*self.facts, fact)
        body = getattr(node, "body", None)
        if body is not None:
            self.statement(body)

    def _leave(self, node: Any) -> None:
        value = getattr(node, "value", None)
        if value is not None:
            self.value(value)


def _is_variable(node: Any) -> bool:
    return type(node).__name__ in ("Var", "SizeVar")


def _unique(name: str, taken: set[str]) -> str:
    unique, count = name, 0
    while unique in taken:
        count += 1
        unique = f"{name}_{count}"
    return unique


def _shape_of(var: Any) -> Sequence[Any]:
    return var.ty.shape[:] if type(var.ty).__name__ == "BufferType" else ()


def _scope_of(typed: Any) -> str:
    found = getattr(getattr(typed, "ty", typed), "storage_scope", "")
    return str(found() if callable(found) else found) or "global"


_STATEMENTS: dict[str, Callable[[Walk, Any], None]] = {
    "SeqStmt": Walk._sequence,
    "For": Walk._for,
    "While": Walk._while,
    "IfThenElse": Walk._if,
    "AttrStmt": Walk._attribute,
    "SBlockRealize": Walk._realize,
    "DeclBuffer": Walk._declare_buffer,
    "AllocBuffer": Walk._allocate,
    "Bind": Walk._bind,
    "Evaluate": Walk._evaluate,
    "AssertStmt": Walk._assert,
    "BufferStore": Walk._store,
    "Break": Walk._leave,
    "Continue": Walk._leave,
    "Return": Walk._leave,
}
