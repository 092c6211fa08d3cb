"""Stand-ins for nodes of TVM's IR, whose class name and fields are all that is looked at."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def node(class_name: str, **fields: Any) -> Any:
    """A node of a class of that name."""
    return type(class_name, (SimpleNamespace,), {})(**fields)


def number(value: int) -> Any:
    """An integer constant."""
    return node("IntImm", value=value)


def text(value: str) -> Any:
    """A constant text."""
    return node("StringImm", value=value)


def call(name: str, *args: Any, **fields: Any) -> Any:
    """A call of an operation."""
    return node("Call", op=node("Op", name=name), args=args, **fields)


def evaluate(value: Any) -> Any:
    """A statement that only evaluates an expression."""
    return node("Evaluate", value=value)


def sequence(*statements: Any) -> Any:
    """Statements one after another."""
    return node("SeqStmt", seq=statements)
