"""Statements of kernels as closures that stop at barriers.

A closure is a generator: it yields where the threads of a block wait for each other, and returns the way out
that it takes (`break`, `continue`, `return`) or None. Blocks run as their lowering makes them run: the axes
get their values, the predicate is tested, the first step of a reduction initialises.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from tests.oracle.tir.allocations import MAX_ELEMENTS, allocation, region
from tests.oracle.tir.calls import calling, pointer
from tests.oracle.tir.expressions import (
    Declined,
    Frame,
    Value,
    buffer_of,
    dtype_of,
    elements,
    key,
    name_of,
    value,
)
from tests.oracle.tir.memory import ParallelLoop, View, compact_strides
from tests.oracle.tir.numbers import lanes_of, rounding
from tests.oracle.tir.warps import called

Run: TypeAlias = Generator[None, None, "str | None"]
Action: TypeAlias = Callable[[Frame], Run]

_REDUCTION_AXIS = 2
_SERIAL, _PARALLEL, _VECTORIZED, _UNROLLED, _THREADS = range(5)
_KINDS = {_PARALLEL: "parallel", _VECTORIZED: "vectorized"}
_numbers = itertools.count()


class ReturnError(Exception):
    """The kernel returns an error."""


def statement(node: Any) -> Action:
    """A statement."""
    handler = _STATEMENTS.get(type(node).__name__)
    if handler is None:
        raise Declined(f"statement {type(node).__name__}")
    return handler(node)


def _sequence(node: Any) -> Action:
    actions = [statement(one) for one in node.seq]

    def run(frame: Frame) -> Run:
        for action in actions:
            left = yield from action(frame)
            if left is not None:
                return left
        return None

    return run


def _for(node: Any) -> Action:
    kind, var, name = int(node.kind), key(node.loop_var), str(node.loop_var.name)
    step = getattr(node, "step", None)
    start, extent, body = value(node.min), value(node.extent), statement(node.body)
    stride = (lambda frame: 1) if step is None else value(step)
    round_ = rounding(dtype_of(node.loop_var))
    if kind == _THREADS and not str(node.thread_binding.thread_tag).startswith("vthread"):
        return _threads(str(node.thread_binding.thread_tag), node.loop_var, start, extent, body)
    if kind in _KINDS:
        return _any_order(_KINDS[kind], node.loop_var, start, extent, stride, body)

    def run(frame: Frame) -> Run:
        first, width, by = start(frame), extent(frame), stride(frame)
        for at in range(first, first + width, by):
            frame.step()
            frame.values[var] = frame.loops[name] = round_(at)
            left = yield from body(frame)
            if left == "break":
                break
            if left == "return":
                return left
        frame.loops.pop(name, None)
        return None

    return run


def _any_order(kind: str, var: Any, start: Value, extent: Value, stride: Value, body: Action) -> Action:
    number, name = key(var), str(var.name)

    def run(frame: Frame) -> Run:
        first, width, by = start(frame), extent(frame), stride(frame)
        loop = ParallelLoop(next(_numbers), kind)
        for at in range(first, first + width, by):
            frame.step()
            thread = frame.fork(loop, at)
            thread.values[number] = thread.loops[name] = at
            left = yield from body(thread)
            if left not in (None, "continue"):
                raise Declined("a way out of a parallel loop")
        return None

    return run


def _threads(tag: str, var: Any, start: Value, extent: Value, body: Action) -> Action:
    """A loop over threads or blocks. All threads of a block go on when each of them is at a barrier."""
    number, name = key(var), str(var.name)

    def run(frame: Frame) -> Run:
        first, width = start(frame), extent(frame)
        if tag in frame.threads:
            frame.values[number], frame.tags[number] = frame.threads[tag], tag
            return (yield from body(frame))
        loop = ParallelLoop(next(_numbers), tag)
        threads = []
        for at in range(first, first + width):
            frame.step()
            thread = frame.fork(loop, at)
            thread.values[number] = thread.loops[name] = thread.threads[tag] = at
            thread.tags[number] = tag
            threads.append(body(thread))
        if loop.is_of_threads:
            yield from _together(threads, loop, frame)
            return None
        for blocks in threads:
            for _ in blocks:
                pass
        return None

    return run


def _together(threads: Sequence[Run], loop: ParallelLoop, frame: Frame) -> Generator[None, None, None]:
    waiting = list(threads)
    while waiting:
        still = [thread for thread in waiting if _goes_on(thread)]
        if not still:
            return
        frame.access.report.diverged |= len(still) != len(waiting)
        waiting = still
        loop.epoch += 1
        yield


def _goes_on(thread: Run) -> bool:
    try:
        next(thread)
    except StopIteration:
        return False
    return True


def _while(node: Any) -> Action:
    condition, body = value(node.condition), statement(node.body)

    def run(frame: Frame) -> Run:
        while condition(frame):
            frame.step()
            left = yield from body(frame)
            if left == "break":
                break
            if left == "return":
                return left
        return None

    return run


def _if(node: Any) -> Action:
    condition, then = value(node.condition), statement(node.then_case)
    other = None if node.else_case is None else statement(node.else_case)

    def run(frame: Frame) -> Run:
        if condition(frame):
            return (yield from then(frame))
        return None if other is None else (yield from other(frame))

    return run


def _attribute(node: Any) -> Action:
    """An attribute; of launches that follow each other, blocks come before their threads."""
    launches = []
    while type(node).__name__ == "AttrStmt" and _is_launch(node):
        launches.append(node)
        node = node.body
    body = statement(node.body if type(node).__name__ == "AttrStmt" else node)
    order = sorted(launches, key=lambda launch: not str(launch.node.thread_tag).startswith("blockIdx"))
    for launch in reversed(order):
        tag = str(launch.node.thread_tag)
        body = _threads(tag, launch.node.var, lambda frame: 0, value(launch.value), body)
    return body


def _is_launch(node: Any) -> bool:
    return type(node.node).__name__ == "IterVar" and str(node.attr_key) == "thread_extent"


def _realize(node: Any) -> Action:
    block = node.block
    axes = [(key(axis.var), value(at)) for axis, at in zip(block.iter_vars, node.iter_values, strict=True)]
    reduced = [
        (key(axis.var), value(axis.dom.min))
        for axis in block.iter_vars
        if int(axis.iter_type) == _REDUCTION_AXIS
    ]
    over = [
        at
        for axis, at in zip(block.iter_vars, node.iter_values, strict=True)
        if int(axis.iter_type) == _REDUCTION_AXIS
    ]
    predicate, body = value(node.predicate), statement(block.body)
    init = None if block.init is None else statement(block.init)
    allocations = [allocation(buffer) for buffer in block.alloc_buffers]
    matches = [region(match) for match in block.match_buffers]

    def run(frame: Frame) -> Run:
        for var, at in axes:
            frame.values[var] = at(frame)
        if not predicate(frame):
            return None
        for allocate in allocations:
            allocate(frame)
        for match in matches:
            match(frame)
        path = frame.path
        if init is not None:
            # The threads of a block reduce together, which TVM lowers to a reduction across threads.
            frame.path = tuple(
                one for one in path if not (one[0].is_of_threads and _depends(frame, over, one[0]))
            )
            if all(frame.values[var] == least(frame) for var, least in reduced):
                yield from init(frame)
        left = yield from body(frame)
        frame.path = path
        return left

    return run


def _depends(frame: Frame, over: Sequence[Any], loop: ParallelLoop) -> bool:
    """Whether a reduction goes over the steps of a loop over threads."""
    return any(frame.tags.get(var) == loop.kind for one in over for var in _names(one))


def _names(node: Any) -> set[int]:
    """The variables of an expression."""
    found: set[int] = set()
    pending = [node]
    while pending:
        one = pending.pop()
        if type(one).__name__ == "Var":
            found.add(key(one))
        pending += [getattr(one, part) for part in ("a", "b", "value", "base") if hasattr(one, part)]
        pending += list(getattr(one, "args", ()))
    return found


def _allocate(node: Any) -> Action:
    allocate = allocation(node.buffer)

    def run(frame: Frame) -> Run:
        allocate(frame)
        return None
        yield

    return run


def _declare(node: Any) -> Action:
    """A buffer on the data of another one."""
    buffer = node.buffer
    source, number, name = pointer(node.data), key(buffer), str(buffer.name)
    dtype = str(buffer.dtype)
    extents = [value(extent) for extent in buffer.shape]
    strides = [value(stride) for stride in buffer.strides]
    offset = None if type(buffer.elem_offset).__name__ == "Var" else value(buffer.elem_offset)

    def run(frame: Frame) -> Run:
        view, at = source(frame)
        shape = tuple([extent(frame) for extent in extents])
        steps = tuple([stride(frame) for stride in strides]) or compact_strides(shape)
        start = frame.values.get(key(buffer.elem_offset), 0) if offset is None else offset(frame)
        made = View(name, view.memory, dtype, shape, steps, start)
        if at % made.width:
            raise Declined("a pointer between elements")
        frame.buffers[number] = replace(made, offset=start + at // made.width)
        if math.prod(shape) > MAX_ELEMENTS:
            raise Declined("the size of an internal buffer")
        return None
        yield

    return run


def _bound(node: Any) -> Action:
    var, bound = key(node.var), value(node.value)

    def run(frame: Frame) -> Run:
        frame.values[var] = bound(frame)
        return None
        yield

    return run


def _evaluate(node: Any) -> Action:
    if type(node.value).__name__ == "Call" and type(node.value.op).__name__ == "GlobalVar":
        return calling(node.value)
    name = name_of(node.value) if type(node.value).__name__ == "Call" else ""
    if name in ("break_loop", "continue_loop", "ret", "thread_return"):
        left = {"break_loop": "break", "continue_loop": "continue"}.get(name, "return")
        return _leaving(left)
    if name == "tvm_storage_sync":
        return _barrier
    found = (called(node.value) if name else None) or value(node.value)

    def run(frame: Frame) -> Run:
        found(frame)
        return None
        yield

    return run


def _barrier(frame: Frame) -> Run:
    yield
    return None


def _leaving(left: str) -> Action:
    def run(frame: Frame) -> Run:
        return left
        yield

    return run


def _assert(node: Any) -> Action:
    condition = value(node.condition)

    def run(frame: Frame) -> Run:
        if not condition(frame):
            raise ReturnError
        return None
        yield

    return run


def _store(node: Any) -> Action:
    buffer, stored = key(node.buffer), value(node.value)
    indices = [value(index) for index in node.indices]

    def run(frame: Frame) -> Run:
        frame.step()
        view = buffer_of(frame, buffer)
        if lanes_of(view.dtype) > 1:
            raise Declined("a buffer of vectors")
        number = stored(frame)
        at = elements(tuple([index(frame) for index in indices]))
        numbers = number if isinstance(number, tuple) else (number,) * len(at)
        round_ = rounding(view.dtype)
        frame.access.site = node
        for one, lane in zip(at, numbers, strict=True):
            frame.access.store(view, one, round_(lane), frame.path, frame.where)
        return None
        yield

    return run


_STATEMENTS: dict[str, Callable[[Any], Action]] = {
    "SeqStmt": _sequence,
    "For": _for,
    "While": _while,
    "IfThenElse": _if,
    "AttrStmt": _attribute,
    "SBlockRealize": _realize,
    "AllocBuffer": _allocate,
    "DeclBuffer": _declare,
    "Bind": _bound,
    "Evaluate": _evaluate,
    "AssertStmt": _assert,
    "BufferStore": _store,
    "Break": lambda node: _leaving("break"),
    "Continue": lambda node: _leaving("continue"),
    "Return": lambda node: _leaving("return"),
}
