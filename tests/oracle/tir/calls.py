"""Calls of other PrimFuncs, with pointers and numbers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from tests.oracle.tir.expressions import Declined, Frame, buffer_of, key, name_of, value
from tests.oracle.tir.memory import View


def calling(node: Any) -> Callable[[Frame], Generator[None, None, str | None]]:
    """A call: what is called works on the memory that it is given."""
    name = str(node.op.name_hint)
    given = [pointer(argument) if _is_pointer(argument) else value(argument) for argument in node.args]

    def run(frame: Frame) -> Generator[None, None, str | None]:
        if name not in frame.callees:
            raise Declined(f"a call of {name}")
        params, body = frame.callees[name]
        for var, argument in zip(params, given, strict=True):
            passed = argument(frame)
            (frame.pointers if isinstance(passed, tuple) else frame.values)[key(var)] = passed
        yield from body(frame)
        return None

    return run


def _is_pointer(node: Any) -> bool:
    """Whether an expression is the place of some memory."""
    return "int" not in str(getattr(node.ty, "dtype", "")) or (
        type(node).__name__ == "Call" and name_of(node) in ("buffer_data", "address_of")
    )


def pointer(node: Any) -> Callable[[Frame], tuple[View, int]]:
    """Where a pointer points to: a view, and the byte of its memory."""
    kind = type(node).__name__
    name = name_of(node) if kind == "Call" else ""
    if kind == "Var":
        number = key(node)

        def of_variable(frame: Frame) -> tuple[View, int]:
            if number not in frame.pointers:
                raise Declined("a pointer that nothing gives")
            return frame.pointers[number]

        return of_variable
    if name == "buffer_data":
        source = key(node.args[0])
        return lambda frame: _start(buffer_of(frame, source))
    if name == "address_of":
        load = node.args[0]
        buffer = key(load.source if hasattr(load, "source") else load.buffer)
        indices = [value(index) for index in load.indices]

        def of_element(frame: Frame) -> tuple[View, int]:
            view = buffer_of(frame, buffer)
            return view, view.position(tuple([index(frame) for index in indices])) * view.width

        return of_element
    raise Declined("a pointer")


def _start(view: View) -> tuple[View, int]:
    return view, 0
