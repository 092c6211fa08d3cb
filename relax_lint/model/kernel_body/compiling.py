"""Bodies of PrimFuncs as Python closures over small memories. Numbers that depend on contents are floats."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from relax_lint.model.kernel_body.cells import Declined, Frame, Memory, key_of
from relax_lint.vm import nodes
from relax_lint.vm.exits import BREAK, CONTINUE, exit_of

_MAX_LOCAL = 20_000
_REDUCTION_AXIS = 2


def _decided(value: Any) -> bool:
    """A condition that decides what is done. Raises `Declined` where contents decide it."""
    if isinstance(value, float):
        raise Declined
    return bool(value)


Value: TypeAlias = Callable[[Frame], Any]
Action: TypeAlias = Callable[[Frame], "str | None"]


def _divided(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        return a / b if b else 0.0
    return math.trunc(a / b)


def _exact(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation that often gives one result for different operands: of contents it would prove nothing."""

    def run(a: Any, b: Any) -> Any:
        if isinstance(a, float) or isinstance(b, float):
            raise Declined
        return operation(a, b)

    return run


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": _divided,
    "FloorDiv": _exact(lambda a, b: a // b),
    "FloorMod": _exact(lambda a, b: a % b),
    "Min": _exact(min),
    "Max": _exact(max),
    "EQ": _exact(lambda a, b: int(a == b)),
    "NE": _exact(lambda a, b: int(a != b)),
    "LT": _exact(lambda a, b: int(a < b)),
    "LE": _exact(lambda a, b: int(a <= b)),
    "GT": _exact(lambda a, b: int(a > b)),
    "GE": _exact(lambda a, b: int(a >= b)),
    "And": _exact(lambda a, b: int(a and b)),
    "Or": _exact(lambda a, b: int(a or b)),
}
_CALLS: dict[str, Callable[..., Any]] = {"fabs": abs, "abs": abs, "likely": lambda a: a}
_SMOOTH = (
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "tanh",
    "sigmoid",
    "erf",
    "sin",
    "cos",
    "pow",
)
"""Functions of which only that matters which values they get."""


def _smooth(name: str) -> Callable[..., float]:
    shift = float(_SMOOTH.index(name) + 1)
    return lambda *values: (
        10 * math.sin(shift + sum((place + 0.7) * value for place, value in enumerate(values)))
    )


def _in_range(dtype: str, value: Value) -> Value:
    """A value that is not carried out where its type cannot hold it: what it wraps to is not known here."""
    found = re.fullmatch(r"(u?)int(\d+)", dtype)
    if found is None:
        return value
    bits = int(found[2])
    low, high = (0, 2**bits) if found[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1))

    def run(frame: Frame) -> Any:
        number = value(frame)
        if isinstance(number, int) and not low <= number < high:
            raise Declined
        return number

    return run


def repeated(steps: Callable[[Frame], Iterator[None]], body: Action) -> Action:
    """The body in each step of a loop, up to the step that leaves it."""

    def run(frame: Frame) -> str | None:
        for _ in steps(frame):
            frame.step()
            left = body(frame)
            if left == BREAK:
                return None
            if left not in (None, CONTINUE):
                return left
        return None

    return run


class Compiler:
    """Turns statements and expressions into closures. Raises `Declined` for others than it knows."""

    def statement(self, node: Any) -> Action:
        """A statement; what it returns is the way out that it takes."""
        handler = _STATEMENTS.get(type(node).__name__)
        if handler is None:
            raise Declined
        return handler(self, node)

    def _sequence(self, node: Any) -> Action:
        actions = [self.statement(statement) for statement in node.seq]

        def run(frame: Frame) -> str | None:
            for action in actions:
                left = action(frame)
                if left is not None:
                    return left
            return None

        return run

    def _for(self, node: Any) -> Action:
        if int(node.kind) not in (0, 3):
            raise Declined
        step_node = getattr(node, "step", None)
        first, extent, var = self.value(node.min), self.value(node.extent), key_of(node.loop_var)
        step = (lambda frame: 1) if step_node is None else self.value(step_node)
        body = self.statement(node.body)

        def steps(frame: Frame) -> Iterator[None]:
            start, width, stride = first(frame), extent(frame), step(frame)
            for value in range(start, start + width, stride):
                frame.scalars[var] = value
                yield

        return repeated(steps, body)

    def _while(self, node: Any) -> Action:
        condition, body = self.value(node.condition), self.statement(node.body)

        def steps(frame: Frame) -> Iterator[None]:
            while _decided(condition(frame)):
                yield

        return repeated(steps, body)

    def _if(self, node: Any) -> Action:
        condition, then = self.value(node.condition), self.statement(node.then_case)
        other = None if node.else_case is None else self.statement(node.else_case)

        def run(frame: Frame) -> str | None:
            if _decided(condition(frame)):
                return then(frame)
            return None if other is None else other(frame)

        return run

    def _realize(self, node: Any) -> Action:
        block = node.block
        if block.match_buffers:
            raise Declined
        axes = [
            (key_of(axis.var), self.value(value))
            for axis, value in zip(block.iter_vars, node.iter_values, strict=True)
        ]
        starts = [
            (key_of(axis.var), self.value(axis.dom.min))
            for axis in block.iter_vars
            if int(axis.iter_type) == _REDUCTION_AXIS
        ]
        predicate, body = self.value(node.predicate), self.statement(block.body)
        init = None if block.init is None else self.statement(block.init)
        local = [self._local(buffer) for buffer in block.alloc_buffers]

        def run(frame: Frame) -> str | None:
            for var, value in axes:
                frame.scalars[var] = value(frame)
            if not _decided(predicate(frame)):
                return None
            for allocate in local:
                allocate(frame)
            if init is not None and all(frame.scalars[var] == start(frame) for var, start in starts):
                init(frame)
            return body(frame)

        return run

    def _allocate(self, node: Any) -> Action:
        return self._local(node.buffer)

    def _local(self, buffer: Any) -> Action:
        key, extents = key_of(buffer), [self.value(extent) for extent in buffer.shape]

        def run(frame: Frame) -> str | None:
            shape = tuple(extent(frame) for extent in extents)
            if math.prod(shape) > _MAX_LOCAL:
                raise Declined
            frame.buffers.setdefault(key, Memory([0.0] * math.prod(shape), 0, shape))
            return None

        return run

    def _bind(self, node: Any) -> Action:
        var, value = key_of(node.var), self.value(node.value)

        def run(frame: Frame) -> str | None:
            frame.scalars[var] = value(frame)
            return None

        return run

    def _evaluate(self, node: Any) -> Action:
        left = exit_of(node)
        if left is not None:
            return lambda frame: left
        if nodes.is_kernel_constant(node.value):
            return lambda frame: None
        raise Declined

    def _leave(self, node: Any) -> Action:
        left = exit_of(node)
        return lambda frame: left

    def _assert(self, node: Any) -> Action:
        return lambda frame: None

    def _store(self, node: Any) -> Action:
        buffer, value = key_of(node.buffer), self.value(node.value)
        indices = [self.value(index) for index in node.indices]

        def run(frame: Frame) -> str | None:
            frame.step()
            memory = frame.buffers[buffer]
            number = value(frame)
            memory.cells[memory.cell([index(frame) for index in indices])] = number
            return None

        return run

    # -- expressions ---------------------------------------------------------------------------

    def value(self, node: Any) -> Value:
        """An expression."""
        if isinstance(node, int):
            return lambda frame: node
        kind = type(node).__name__
        if nodes.is_kernel_constant(node):
            constant = int(node.value) if kind == "IntImm" else float(node.value)
            return lambda frame: constant
        if kind == "Var":
            var = key_of(node)
            return lambda frame: frame.scalars[var]
        if kind in _BINARY:
            operation, a, b = _BINARY[kind], self.value(node.a), self.value(node.b)
            return _in_range(str(node.ty.dtype), lambda frame: operation(a(frame), b(frame)))
        if kind == "Not":
            operand = self.value(node.a)
            return lambda frame: int(not _decided(operand(frame)))
        if kind == "Cast":
            return self._cast(node)
        if nodes.is_load(node):
            return self._load(node)
        if kind == "Select":
            return self._choice(node.condition, node.true_value, node.false_value)
        if kind == "Call":
            return self._call(node)
        raise Declined

    def _cast(self, node: Any) -> Value:
        operand = self.value(node.value)
        if str(node.ty.dtype).startswith("float"):
            return lambda frame: float(operand(frame))

        def run(frame: Frame) -> int:
            number = operand(frame)
            if isinstance(number, float):
                raise Declined
            return int(number)

        return _in_range(str(node.ty.dtype), run)

    def _load(self, node: Any) -> Value:
        buffer = key_of(nodes.loaded_buffer(node))
        indices = [self.value(index) for index in node.indices]

        def run(frame: Frame) -> Any:
            memory = frame.buffers[buffer]
            return memory.cells[memory.cell([index(frame) for index in indices])]

        return run

    def _choice(self, condition: Any, then: Any, other: Any) -> Value:
        test, a, b = self.value(condition), self.value(then), self.value(other)

        def run(frame: Frame) -> Any:
            return a(frame) if _decided(test(frame)) else b(frame)

        return run

    def _call(self, node: Any) -> Value:
        name = str(getattr(node.op, "name", "")).rpartition(".")[2]
        if name == "if_then_else":
            return self._choice(*node.args)
        function = _smooth(name) if name in _SMOOTH else _CALLS.get(name)
        if function is None:
            raise Declined
        operands = [self.value(argument) for argument in node.args]
        return lambda frame: function(*(operand(frame) for operand in operands))


_STATEMENTS: dict[str, Callable[[Compiler, Any], Action]] = {
    "SeqStmt": Compiler._sequence,
    "For": Compiler._for,
    "While": Compiler._while,
    "IfThenElse": Compiler._if,
    "SBlockRealize": Compiler._realize,
    "AllocBuffer": Compiler._allocate,
    "Bind": Compiler._bind,
    "Evaluate": Compiler._evaluate,
    "AssertStmt": Compiler._assert,
    "BufferStore": Compiler._store,
    "Break": Compiler._leave,
    "Continue": Compiler._leave,
    "Return": Compiler._leave,
}
