"""The walk over expressions: loads are accesses, calls and choices decide what is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relax_lint.model.kernel_access import conditions as c
from relax_lint.model.kernel_access.arithmetic import RELATIONS, Arithmetic
from relax_lint.model.kernel_access.atoms import Option, span_of
from relax_lint.model.kernel_access.conditions import Condition
from relax_lint.model.kernel_access.few_bits import Value
from relax_lint.model.kernel_access.layouts import Buffer, count_of
from relax_lint.model.kernel_access.polynomials import Poly, TooLarge, constant
from relax_lint.vm import nodes, versions
from relax_lint.vm.sorting import Sorting, sorting_of


class Expressions(Arithmetic):
    """Reads expressions; every load in them is an access."""

    def value(self, node: Any) -> Value:
        """What an expression is worth."""
        kind = type(node).__name__
        handler = _HANDLERS.get(kind)
        if handler is not None:
            try:
                return self.fitting(handler(self, node), node)
            except TooLarge:
                return None
        if nodes.is_kernel_constant(node):
            return None
        self.unread(f"the kernel contains an expression of the kind {kind}")
        return None

    def _integer(self, node: Any) -> Value:
        value = int(node.value)
        if str(node.ty.dtype) == "bool":
            return value != 0
        return constant(value)

    def _variable(self, node: Any) -> Value:
        known: Value = self.known.get(node.__chandle__())
        if known is not None:
            return known
        pointer = self.pointers.get(node.__chandle__())
        buffer = self.buffers.get(node.__chandle__()) if pointer is None else pointer.buffer
        if buffer is not None:
            self.lose(buffer, self._taken())
        return None

    def _taken(self) -> str:
        """Why nobody knows what becomes of a buffer whose pointer is used."""
        taken = "its address is taken in the kernel"
        return f"its memory is passed to `{self.callee}`" if self.callee else taken

    def _load(self, node: Any) -> Value:
        buffer = self.buffer(nodes.loaded_buffer(node))
        wraps, self.wraps = self.wraps, []
        indices = self.indices(node.indices)
        self.access(buffer, indices, node, writes=False)
        self.wraps = wraps
        found: Value = self.loaded(buffer, indices)
        return found

    def _select(self, node: Any) -> Value:
        """Of a choice between loads TVM makes a branch (RewriteUnsafeSelect), unless its condition becomes
        a vector.
        """
        is_vector = "x" in str(node.condition.ty.dtype)
        if not is_vector and not any(loop.kind == "vectorized" for loop in self.nest):
            return self._branch(node.condition, node.true_value, node.false_value)
        condition = self.guard(node.condition)
        one, other = (self._unwrapped(side) for side in (node.true_value, node.false_value))
        return self._chosen(condition, one, other)

    def _side(self, node: Any, condition: Condition) -> Value:
        """What is read only where a condition holds."""
        around, self.wraps = self.wraps, []
        with self.under(condition):
            found = self._unwrapped(node)
            wraps = self.wraps if self.wraps_around(self.wraps) else []
        self.wraps = around + wraps
        return found

    def _unwrapped(self, node: Any) -> Value:
        """A side of a choice, which is one number of it: here 32-bit arithmetic has to be enough."""
        found = self.value(node)
        return self.narrow(found, node) if isinstance(found, Poly) else found

    def _chosen(self, condition: Condition, one: Value, other: Value) -> Value:
        if condition is True:
            return one
        if condition is False:
            return other
        if isinstance(one, Poly) and isinstance(other, Poly):
            if one == other:
                return one
            options = (Option(condition, one), Option(c.negated(condition), other))
            return self.cut(self.terms.choice(options), (one, other))
        if one is None or other is None or isinstance(one, Poly) or isinstance(other, Poly):
            return None
        return c.any_of((c.every((condition, one)), c.every((c.negated(condition), other))))

    def _let(self, node: Any) -> Value:
        self.bind(node.var, self.settled(node.value))
        return self.value(node.body)

    def subroutine(self, node: Any) -> bool:
        """Read what a call of a PrimFunc does; whether that could be read. `Subroutines` overrides it."""
        raise NotImplementedError

    def works_on_matrices(self, node: Any) -> bool:
        """Read a call that works on small matrices; whether it is one. `Matrices` overrides it."""
        raise NotImplementedError

    def _call(self, node: Any) -> Value:
        before = self.callee
        try:
            return self._called(node)
        except TooLarge as error:
            self.callee = before
            self._lose_given(node, str(error))
            return None

    def _lose_given(self, node: Any, why: str) -> None:
        """Nobody knows which elements of the buffers are touched that a call is given."""
        var = nodes.loaded_buffer(node) if nodes.is_load(node) else nodes.data_of_buffer(node)
        pointer = self.pointers.get(node.__chandle__())
        if var is not None or pointer is not None:
            self.lose(self.buffer(var) if pointer is None else pointer.buffer, why)
            return
        for argument in getattr(node, "args", ()):
            self._lose_given(argument, why)

    def _called(self, node: Any) -> Value:
        if type(node.op).__name__ == "GlobalVar" and self.subroutine(node):
            return None
        name = str(getattr(node.op, "name", "")).rpartition(".")[2]
        handler = _CALLS.get(name)
        if handler is not None:
            return handler(self, node)
        bits = nodes.bit_operation(node)
        if bits is not None:
            return _HANDLERS[bits.kind](self, bits)
        if self.works_on_matrices(node):
            return None
        before = self.callee
        self.callee = before or _callee(name, node)
        sorting = sorting_of(node) if before == "" else None
        if sorting is None:
            for argument in node.args:
                self.value(argument)
        else:
            self._sorts(sorting)
        self.callee = before
        span = span_of(str(getattr(node.ty, "dtype", "")))
        return None if span is None or str(node.ty.dtype) == "bool" else self.terms.opaque(name, span)

    def _if_then_else(self, node: Any) -> Value:
        return self._branch(*node.args)

    def _branch(self, test: Any, then: Any, otherwise: Any) -> Value:
        condition = self.guard(test)
        one, other = self._side(then, condition), self._side(otherwise, c.negated(condition))
        return self._chosen(condition, one, other)

    def _likely(self, node: Any) -> Value:
        return self.value(node.args[0])

    def _assume(self, node: Any) -> Value:
        self.promise(self.condition(node.args[0]), f"T.assume({node.args[0]})")
        return None

    def _buffer_data(self, node: Any) -> Value:
        self.lose(self.buffer(node.args[0]), self._taken())
        return None

    def _address(self, node: Any) -> Value:
        load = node.args[0]
        if not nodes.is_load(load):
            return self.value(load)
        indices = self.indices(load.indices)
        buffer = self.buffer(nodes.loaded_buffer(load))
        self.access(buffer, indices, load, writes=False, passed=f"its address is passed to `{self.callee}`")
        return None

    def _sorts(self, sorting: Sorting) -> None:
        """A call that fills tensors with the elements of another one in order, or with their indices."""
        source = self.buffer(sorting.source.buffer)
        self.passed(source, constant(0), self._size(sorting.source.shape), writes=False)
        extent = self.number(sorting.source.shape[sorting.axis])
        for one in sorting.results:
            target, size = self.buffer(one.array.buffer), self._size(one.array.shape)
            own = one.indices and extent is not None and target.ref.parameter is None
            holds = self._index(extent, target) if own else None
            self.passed(target, constant(0), size, writes=True, holds=holds)
            if one.indices and extent is not None and not own:
                self.positions_below(target, extent)
            is_all = sorting.first is None and size == self._size(sorting.source.shape)
            if is_all and size is not None and size == count_of(target.shape):
                self.filled()

    def _index(self, extent: Poly | None, target: Buffer) -> Poly:
        """An index of an axis, in the type of the tensor that holds it."""
        span = target.span or (None, None)
        if extent is None:
            return self.terms.opaque("index", span)
        around, self.wraps = self.wraps, [] if span == (None, None) else [extent.shift(-1)]
        found = self.unless_wrapped(self.terms.loop("index", constant(0), extent))
        self.wraps = around
        return found if isinstance(found, Poly) else self.terms.opaque("index", span)

    def _size(self, shape: Sequence[Any]) -> Poly | None:
        return count_of([self.number(extent) for extent in shape])

    def _array(self, node: Any) -> Value:
        """A tensor that is handed to what the kernel calls: its data, and its shape as a call."""
        source = nodes.data_of_buffer(node.args[0])
        shape = getattr(node.args[1], "args", None)
        if source is None or shape is None:
            self.value(node.args[0])
            return None
        offset, size = self.number(node.args[5]), self._size(shape)
        for writes in (False, True):
            self.passed(self.buffer(source), offset, size, writes=writes)
        return None

    def _pointer(self, node: Any) -> Value:
        source = nodes.data_of_buffer(node.args[1])
        offset, extent = self.number(node.args[2]), self.number(node.args[3])
        mask = self.number(node.args[4])
        if source is None or mask is None:
            self.value(node.args[1])
            return None
        buffer = self.buffer(source)
        dtype = str(getattr(node.args[0].ty, "dtype", "void"))
        bits, lanes = (0, 0) if dtype == "void" else versions.dtype_bits(dtype)
        for bit, writes in ((1, False), (2, True)):
            if not mask.is_constant or mask.constant & bit:
                self.passed(buffer, offset, extent, writes=writes, item=bits * lanes)
        return None

    def indices(self, given: Sequence[Any]) -> tuple[Poly | None, ...]:
        """The indices of an access."""
        found = []
        for node in given[:]:
            value = self.number(node)
            if value is not None:
                self.narrow(value, node, final=True)
            found.append(value)
        return tuple(found)

    def buffer(self, var: Any) -> Buffer:
        """What is known of a buffer."""
        found = self.buffers.get(var.__chandle__())
        return self.declare(var) if found is None else found


def _callee(name: str, node: Any) -> str:
    """What a call calls: of one by name that name."""
    first = node.args[0] if len(node.args) else None
    if first is not None and type(first).__name__ == "StringImm":
        return str(first.value)
    return name or str(node.op)


_E = Expressions
_HANDLERS: dict[str, Callable[[Expressions, Any], Value]] = {
    "IntImm": _E._integer,
    "Var": _E._variable,
    "SizeVar": _E._variable,
    "TensorLoad": _E._load,
    "BufferLoad": _E._load,
    "Add": _E._add,
    "Sub": _E._subtract,
    "Mul": _E._multiply,
    "FloorDiv": _E._floor_div,
    "FloorMod": _E._floor_mod,
    "Div": _E._trunc_div,
    "Mod": _E._trunc_mod,
    "Min": _E._least,
    "Max": _E._greatest,
    "LShift": _E._shift_left,
    "RShift": _E._shift_right,
    "BitwiseAnd": _E._bit_and,
    "BitwiseOr": _E._bit_or,
    "BitwiseXor": _E._bit_xor,
    "BitwiseNot": _E._bit_not,
    "Cast": _E._cast,
    "Ramp": _E._ramp,
    "Broadcast": _E._broadcast,
    "And": _E._and,
    "Or": _E._or,
    "Not": _E._not,
    "Select": _E._select,
    "Let": _E._let,
    "Call": _E._call,
    **dict.fromkeys(RELATIONS, _E._relation),
}


_CALLS: dict[str, Callable[[Expressions, Any], Value]] = {
    "if_then_else": _E._if_then_else,
    "likely": _E._likely,
    "tvm_thread_invariant": _E._likely,
    "assume": _E._assume,
    "buffer_data": _E._buffer_data,
    "address_of": _E._address,
    "tvm_access_ptr": _E._pointer,
    "tvm_stack_make_array": _E._array,
}
