"""Bodies of PrimFuncs as Python closures that compute as the machine does: integers keep the bits of their
type, floats are rounded to theirs, and contents decide what is done.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from relax_lint.model.kernel_body.carried import is_carried
from relax_lint.model.kernel_body.cells import Declined, Frame, Memory, Refused, key_of
from relax_lint.model.kernel_body.compiling import Action, Compiler, Value, repeated
from relax_lint.model.kernel_body.kept import Keep, kept_by
from relax_lint.vm import nodes

_FEW_STEPS = 8
_MOST_CARRIED = 256
"""So many steps of a long loop that carries a value are carried out: half of a number so often is zero."""
_MOST_BITS = 64
_THREAD_BINDING = 4


def _quotient(a: Any, b: Any) -> Any:
    if isinstance(a, float):
        if b:
            return a / b
        return math.nan if a != a or a == 0 else math.copysign(math.inf, a) * math.copysign(1, b)
    if not b:
        raise Declined
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def _rest(a: Any, b: Any) -> Any:
    if isinstance(a, float):
        return math.fmod(a, b)
    return a - b * _quotient(a, b)


def _rounded_down(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        if not b:
            raise Declined
        return operation(a, b)

    return run


def _shifted(operation: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        if not 0 <= b < _MOST_BITS:
            raise Declined
        return operation(a, b)

    return run


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": _quotient,
    "Mod": _rest,
    "FloorDiv": _rounded_down(operator.floordiv),
    "FloorMod": _rounded_down(operator.mod),
    "Min": min,
    "Max": max,
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "LShift": _shifted(operator.lshift),
    "RShift": _shifted(operator.rshift),
    "BitwiseAnd": operator.and_,
    "BitwiseOr": operator.or_,
    "BitwiseXor": operator.xor,
}


def _halves_to_even(number: float) -> float:
    return float(round(number)) if math.isfinite(number) else number


_CALLS: dict[str, Callable[..., Any]] = {
    "likely": lambda number: number,
    "abs": abs,
    "fabs": abs,
    "floor": lambda number: float(math.floor(number)),
    "ceil": lambda number: float(math.ceil(number)),
    "trunc": lambda number: float(math.trunc(number)),
    "round": _halves_to_even,
    "nearbyint": _halves_to_even,
    "exp": math.exp,
    "exp2": lambda number: 2.0**number,
    "exp10": lambda number: 10.0**number,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "rsqrt": lambda number: 1 / math.sqrt(number),
    "tanh": math.tanh,
    "sigmoid": lambda number: 1 / (1 + math.exp(-number)),
    "erf": math.erf,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "atan2": math.atan2,
    "hypot": math.hypot,
    "fmod": math.fmod,
    "pow": lambda base, power: float(base) ** power,
    "copysign": math.copysign,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
}
ASKS_FOR_NAN = frozenset(("isnan", "isinf", "isfinite"))


def _kept(node: Any) -> float:
    """A constant as its type keeps it."""
    kept: float = kept_by(str(node.ty.dtype))(float(node.value))
    return kept


def _called(function: Callable[..., Any], *operands: Any) -> Any:
    """What a function gives: not a number where it is not defined."""
    try:
        found = function(*operands)
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return math.nan
    return math.nan if isinstance(found, complex) else found


class Cells:
    """Cells that are begun when they are loaded first, and remember which of them were stored to: at indices
    that look at data, or at others.
    """

    def __init__(self, begin: Callable[[int], Any]) -> None:
        self.begin = begin
        self.held: dict[int, Any] = {}
        self.stored: set[int] = set()
        self.chosen: set[int] = set()

    def __getitem__(self, position: int) -> Any:
        found = self.held.get(position)
        if found is None:
            found = self.held[position] = self.begin(position)
        return found

    def __setitem__(self, position: int, number: Any) -> None:
        self.held[position] = number


class Run(Frame):
    """A frame in which long loops have only some of their steps, if it `is_sparse`: more of them where a
    value is carried round.
    """

    is_sparse = False


class MachineCompiler(Compiler):
    """Turns statements and expressions into closures that run in a `Run` on `Cells`. Raises `Declined` for
    others than it knows.
    """

    def __init__(self) -> None:
        self._of_data: set[Any] = set()
        """The names of values that look at data."""
        self.constants: set[float] = set()
        """The constants that were met."""
        self.calls: set[str] = set()
        """The functions that were met."""
        self.carries = False
        """Whether a loop was met that carries a value."""

    def statement(self, node: Any) -> Action:
        """A statement."""
        kind = type(node).__name__
        if kind == "AttrStmt" and type(node.node).__name__ != "IterVar":
            return self.statement(node.body)
        if kind == "For":
            return self._loop(node)
        if kind == "BufferStore":
            return self._stored(node)
        if kind == "AssertStmt":
            return self._assert(node)
        if kind == "Bind" and self._looks_at_data(node.value):
            self._of_data.add(node.var)
        return super().statement(node)

    def _loop(self, node: Any) -> Action:
        if int(node.kind) == _THREAD_BINDING:
            raise Declined
        given = getattr(node, "step", None)
        first, extent, var = self.value(node.min), self.value(node.extent), key_of(node.loop_var)
        stride, body = self.value(1 if given is None else given), self.statement(node.body)
        most = _MOST_CARRIED if is_carried(node) else _FEW_STEPS
        self.carries |= most == _MOST_CARRIED

        def steps(frame: Frame) -> Iterator[None]:
            start, width = first(frame), stride(frame)
            if width < 1:
                raise Declined
            numbers: Sequence[int] = range(start, start + extent(frame), width)
            if isinstance(frame, Run) and frame.is_sparse and len(numbers) > most:
                numbers = (*numbers[: 2 if most == _FEW_STEPS else most - 1], numbers[-1])
            for number in numbers:
                frame.scalars[var] = number
                yield

        return repeated(steps, body)

    def _assert(self, node: Any) -> Action:
        condition = self.value(node.condition)
        # At other sizes it is carried out.
        refused = Refused if self._looks_at_data(node.condition) else Declined

        def run(frame: Frame) -> None:
            if not condition(frame):
                raise refused

        return run

    def _stored(self, node: Any) -> Action:
        if getattr(node, "predicate", None) is not None:
            raise Declined
        buffer, value = key_of(node.buffer), self.value(node.value)
        indices = [self.value(index) for index in node.indices]
        looks = any(map(self._looks_at_data, node.indices))

        def run(frame: Frame) -> str | None:
            frame.step()
            memory, number = frame.buffers[buffer], value(frame)
            cells: Any = memory.cells
            cell = memory.cell([index(frame) for index in indices])
            (cells.chosen if looks else cells.stored).add(cell)
            cells[cell] = number
            return None

        return run

    def _looks_at_data(self, node: Any) -> bool:
        return any(nodes.is_load(one) or one in self._of_data for one in nodes.nodes_of(node))

    def _local(self, buffer: Any) -> Action:
        key, extents = key_of(buffer), [self.value(extent) for extent in buffer.shape]
        begin = kept_by(str(buffer.dtype))(0)

        def run(frame: Frame) -> str | None:
            shape = tuple(extent(frame) for extent in extents)
            if key not in frame.buffers:
                cells: Any = Cells(lambda _: begin)
                frame.buffers[key] = Memory(cells, 0, shape)
            return None

        return run

    def value(self, node: Any) -> Value:
        """An expression."""
        if isinstance(node, int):
            return lambda frame: node
        kind = nodes.expression_kind(node)
        if nodes.is_kernel_constant(node):
            if kind not in ("IntImm", "FloatImm"):
                raise Declined
            constant = int(node.value) if kind == "IntImm" else _kept(node)
            self.constants.add(constant)
            return lambda frame: constant
        if kind == "Var":
            var = key_of(node)
            return lambda frame: frame.scalars[var]
        if kind == "BufferLoad":
            return self._load(node)
        if kind == "Select":
            return self._choice(*nodes.parts_of_choice(node))
        if kind in ("And", "Or"):
            return self._both(node, decisive=int(kind == "Or"))
        dtype = getattr(node.ty, "dtype", None)
        if dtype is None:
            raise Declined
        keep = kept_by(str(dtype))
        if kind == "Let":
            return self._let(node)
        if kind == "Cast":
            operand = self.value(node.value)
            return lambda frame: keep(operand(frame))
        if kind == "Not":
            operand = self.value(node.a)
            return lambda frame: int(not operand(frame))
        one = (nodes.bit_operation(node) if nodes.is_call(node) else None) or node
        if kind == "BitwiseNot":
            operand = self.value(one.a)
            return lambda frame: keep(~operand(frame))
        if kind in _BINARY:
            operation, a, b = _BINARY[kind], self.value(one.a), self.value(one.b)
            return lambda frame: keep(operation(a(frame), b(frame)))
        return self._function(node, keep)

    def _both(self, node: Any, *, decisive: int) -> Value:
        one, other = self.value(node.a), self.value(node.b)
        return lambda frame: decisive if int(bool(one(frame))) == decisive else int(bool(other(frame)))

    def _let(self, node: Any) -> Value:
        var, value, body = key_of(node.var), self.value(node.value), self.value(node.body)

        def run(frame: Frame) -> Any:
            frame.scalars[var] = value(frame)
            return body(frame)

        return run

    def _function(self, node: Any, keep: Keep) -> Value:
        if not nodes.is_call(node):
            raise Declined
        name = str(getattr(node.op, "name", "")).rpartition(".")[2]
        function = _CALLS.get(name)
        if function is None:
            raise Declined
        self.calls.add(name)
        operands = [self.value(argument) for argument in node.args]
        return lambda frame: keep(_called(function, *(operand(frame) for operand in operands)))
