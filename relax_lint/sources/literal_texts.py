"""The text that an expression of literals is, as far as that can be told without evaluating anything."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence

_MAX_LENGTH = 1 << 20
_MAX_DEPTH = 30
_STRIPPED = {"lstrip": str.lstrip, "rstrip": str.rstrip, "strip": str.strip}
_CLEANED = {"cleandoc": inspect.cleandoc, "dedent": textwrap.dedent}


class _UnknownError(Exception):
    pass


def text_of(node: ast.expr, values: Mapping[str, Sequence[ast.expr]]) -> str | None:
    """The text; None where it cannot be told or is too long. `values` are what names are bound to."""
    try:
        return _Text(values).of(node, 0)
    except _UnknownError:
        return None


class _Text:
    def __init__(self, values: Mapping[str, Sequence[ast.expr]]) -> None:
        self.values = values
        # Of a name that is mentioned again and again.
        self.known: dict[str, str] = {}

    def of(self, node: ast.expr, depth: int) -> str:
        if depth > _MAX_DEPTH:
            raise _UnknownError
        text = self.made(node, depth + 1)
        if len(text) > _MAX_LENGTH:
            raise _UnknownError
        return text

    def made(self, node: ast.expr, depth: int) -> str:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=bytes(data)), attr="decode"), args=[], keywords=[]
            ):
                try:
                    return data.decode()
                except UnicodeDecodeError:
                    raise _UnknownError from None
            case ast.Name(id=name):
                return self.named(name, depth)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.of(left, depth) + self.of(right, depth)
            case ast.JoinedStr(values=parts):
                return "".join(self.part(one, depth) for one in parts)
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]) if (
                name in _STRIPPED
            ):
                return _STRIPPED[name](self.of(value, depth))
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[value], keywords=[]) if (
                name in _CLEANED
            ):
                return _CLEANED[name](self.of(value, depth))
        raise _UnknownError

    def named(self, name: str, depth: int) -> str:
        values = self.values.get(name, ())
        if len(values) != 1:
            raise _UnknownError
        if name not in self.known:
            self.known[name] = self.of(values[0], depth)
        return self.known[name]

    def part(self, node: ast.expr, depth: int) -> str:
        match node:
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self.number(value) or self.of(value, depth)
        return self.of(node, depth)

    def number(self, node: ast.expr) -> str | None:
        """A whole number as Python spells it."""
        values = self.values.get(node.id, ()) if isinstance(node, ast.Name) else [node]
        match values:
            case [ast.Constant(value=int(number))] if number.bit_length() < 64:
                return str(number)
        return None
