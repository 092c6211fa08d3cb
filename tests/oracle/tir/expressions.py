"""Expressions of kernels as closures over a frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tests.oracle.tir.memory import Access, ParallelLoop, Path, Report, View
from tests.oracle.tir.numbers import BINARY, CALLS, computed, lanes_of, lanewise, rounding

Value: TypeAlias = Callable[["Frame"], Any]


class Declined(Exception):
    """The kernel does something that is not carried out here."""


class AssumptionBroken(Exception):
    """The caller did not keep what the kernel assumes."""


class Frame:
    """What one thread knows: values of variables, buffers, and where it stands."""

    def __init__(self, access: Access, budget: list[int], callees: Mapping[str, Any]) -> None:
        self.access = access
        self.callees = callees
        """What can be called: the parameters and the body of each PrimFunc."""
        self.values: dict[int, Any] = {}
        self.buffers: dict[int, View] = {}
        self.pointers: dict[int, tuple[View, int]] = {}
        """Views, and the byte of their memory to which a variable points."""
        self.path: Path = ()
        self.loops: dict[str, int] = {}
        self.threads: dict[str, int] = {}
        self.tags: dict[int, str] = {}
        self.budget = budget

    def fork(self, loop: ParallelLoop | None, value: int) -> Frame:
        """A thread of its own at one step of a parallel loop."""
        other = Frame(self.access, self.budget, self.callees)
        other.values, other.buffers = dict(self.values), dict(self.buffers)
        other.pointers = dict(self.pointers)
        other.path = self.path if loop is None else (*self.path, (loop, value))
        other.loops, other.threads, other.tags = dict(self.loops), dict(self.threads), dict(self.tags)
        return other

    def step(self) -> None:
        """Count a step. Raises `Declined` after too many."""
        self.budget[0] -= 1
        if self.budget[0] < 0:
            raise Declined("too many steps")

    def where(self) -> Any:
        """The values of the loops around."""
        return self.loops.items()


def key(node: Any) -> int:
    """What tells a variable or a buffer from others, cheaper than its hash."""
    return int(node.__chandle__())


def dtype_of(node: Any) -> str:
    """The dtype of an expression."""
    type_ = getattr(node, "ty", None)
    found = getattr(type_, "dtype", None)
    return str(found if found is not None else node.dtype)


_COMPARISONS = frozenset({"EQ", "NE", "LT", "LE", "GT", "GE", "And", "Or"})


def value(node: Any) -> Value:
    """An expression."""
    if isinstance(node, (int, float)):
        return lambda frame: node
    kind = type(node).__name__
    handler = _HANDLERS.get(kind)
    if handler is not None:
        return handler(node)
    if kind in BINARY:
        function, a, b = lanewise(BINARY[kind]), value(node.a), value(node.b)
        if kind in _COMPARISONS:
            return lambda frame: _as_bool(function(a(frame), b(frame)))
        compute = computed(dtype_of(node))

        def run(frame: Frame) -> Any:
            found, report = function(a(frame), b(frame)), frame.access.report
            number = compute(found, report.overflow)
            report.overflowed |= number != found
            return number

        return run
    raise Declined(f"expression {kind}")


def _as_bool(found: Any) -> Any:
    return tuple(map(int, map(bool, found))) if isinstance(found, tuple) else int(bool(found))


def _constant(node: Any) -> Value:
    raw = node.value
    if isinstance(raw, str):
        return lambda frame: raw
    number = float(raw) if "float" in dtype_of(node) else int(raw)
    return lambda frame: number


def _variable(node: Any) -> Value:
    number, name = key(node), str(node.name)

    def run(frame: Frame) -> Any:
        try:
            return frame.values[number]
        except KeyError:
            raise Declined(f"the value of {name}") from None

    return run


def _not(node: Any) -> Value:
    operand = value(node.a)
    negate = lanewise(lambda a: int(not a))
    return lambda frame: negate(operand(frame))


def _inverted(node: Any) -> Value:
    operand, dtype = value(node.a), dtype_of(node)
    # Of a truth TVM's code generators make its opposite.
    invert, round_ = (
        lanewise((lambda a: not a) if dtype.startswith("bool") else (lambda a: ~a)),
        rounding(dtype),
    )
    return lambda frame: round_(invert(operand(frame)))


def _cast(node: Any) -> Value:
    operand, dtype = value(node.value), dtype_of(node)
    round_ = rounding(dtype)
    to = float if "float" in dtype else (lambda a: a)
    convert = lanewise(to)
    return lambda frame: round_(convert(operand(frame)))


def _ramp(node: Any) -> Value:
    base, stride, lanes = value(node.base), value(node.stride), lanes_of(dtype_of(node))
    round_ = rounding(dtype_of(node))

    def run(frame: Frame) -> Any:
        start, step = base(frame), stride(frame)
        return round_(tuple(start + lane * step for lane in range(lanes)))

    return run


def _broadcast(node: Any) -> Value:
    operand, lanes = value(node.value), lanes_of(dtype_of(node))
    return lambda frame: (operand(frame),) * lanes


def _let(node: Any) -> Value:
    var, bound, body = key(node.var), value(node.value), value(node.body)

    def run(frame: Frame) -> Any:
        frame.values[var] = bound(frame)
        return body(frame)

    return run


def _select(node: Any) -> Value:
    """A choice between loads becomes a branch where one condition decides (RewriteUnsafeSelect). In a
    vectorised loop it may not: such a kernel is declined where that matters.
    """
    chosen, both = _choice(node.condition, node.true_value, node.false_value), []
    both += [value(node.true_value), value(node.false_value)]

    def run(frame: Frame) -> Any:
        if any(loop.kind == "vectorized" for loop, _ in frame.path):
            report = frame.access.report
            frame.access.report = Report(unwritten=report.unwritten, overflow=report.overflow)
            for side in both:
                side(frame)
            is_outside, frame.access.report = bool(frame.access.report.outside), report
            if is_outside:
                raise Declined("a Select in a vectorised loop")
        return chosen(frame)

    return run


def _choice(condition: Any, then: Any, other: Any) -> Value:
    test, a, b = value(condition), value(then), value(other)
    pick = lanewise(lambda chosen, one, two: one if chosen else two)

    def run(frame: Frame) -> Any:
        chosen = test(frame)
        if isinstance(chosen, tuple):
            return pick(chosen, a(frame), b(frame))
        return a(frame) if chosen else b(frame)

    return run


def elements(indices: tuple[Any, ...]) -> list[tuple[int, ...]]:
    """The indices of each lane; those of one element where none is a vector."""
    widths = [len(index) for index in indices if isinstance(index, tuple)]
    if not widths:
        return [indices]
    lanes = 1
    for width in widths:
        lanes = max(lanes, width)
    return [
        tuple(index[lane] if isinstance(index, tuple) else index for index in indices)
        for lane in range(lanes)
    ]


def buffer_of(frame: Frame, buffer: int) -> View:
    """The buffer that a variable names."""
    found = frame.buffers.get(buffer)
    if found is None:
        raise Declined("a buffer that nothing declares")
    return found


def _load(node: Any) -> Value:
    buffer = key(node.source if type(node).__name__ == "TensorLoad" else node.buffer)
    indices = [value(index) for index in node.indices]

    def run(frame: Frame) -> Any:
        frame.step()
        view = buffer_of(frame, buffer)
        if lanes_of(view.dtype) > 1:
            raise Declined("a buffer of vectors")
        at = elements(tuple([index(frame) for index in indices]))
        frame.access.site = node
        loaded = [frame.access.load(view, one, frame.path, frame.where) for one in at]
        return loaded[0] if len(loaded) == 1 else tuple(loaded)

    return run


def name_of(call: Any) -> str:
    """The intrinsic that is called, without its namespace."""
    return str(getattr(call.op, "name", getattr(call.op, "name_hint", ""))).rpartition(".")[2]


def _call(node: Any) -> Value:
    name = name_of(node)
    if name == "if_then_else":
        return _choice(*node.args)
    if name == "assume":
        return _assume(node.args[0])
    if name == "atomic_add":
        return _atomic_add(node)
    if name not in CALLS:
        raise Declined(f"call of {name or type(node.op).__name__}")
    function, round_ = lanewise(CALLS[name]), rounding(dtype_of(node))
    operands = [value(argument) for argument in node.args]
    return lambda frame: round_(function(*(operand(frame) for operand in operands)))


def _assume(condition: Any) -> Value:
    test = value(condition)

    def run(frame: Frame) -> int:
        if not test(frame):
            raise AssumptionBroken
        return 1

    return run


def _atomic_add(node: Any) -> Value:
    load = node.args[0].args[0] if type(node.args[0]).__name__ == "Call" else None
    if load is None or type(load).__name__ not in ("TensorLoad", "BufferLoad"):
        raise Declined("an atomic on an address")
    buffer = key(load.source if type(load).__name__ == "TensorLoad" else load.buffer)
    indices, operand = [value(index) for index in load.indices], value(node.args[1])

    def run(frame: Frame) -> Any:
        view = buffer_of(frame, buffer)
        at = tuple([index(frame) for index in indices])
        frame.access.site = load
        before = frame.access.load(view, at, frame.path, frame.where, atomic=True)
        after = rounding(view.dtype)(before + operand(frame))
        frame.access.store(view, at, after, frame.path, frame.where, atomic=True)
        return before

    return run


_HANDLERS: dict[str, Callable[[Any], Value]] = {
    "IntImm": _constant,
    "FloatImm": _constant,
    "GenericConst": _constant,
    "StringImm": _constant,
    "Var": _variable,
    "Not": _not,
    "BitwiseNot": _inverted,
    "Cast": _cast,
    "Ramp": _ramp,
    "Broadcast": _broadcast,
    "Let": _let,
    "Select": _select,
    "BufferLoad": _load,
    "TensorLoad": _load,
    "Call": _call,
}
