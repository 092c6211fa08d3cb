"""The text that an expression of literals is, as far as that can be told without evaluating anything."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable

from relax_lint.sources.unit import Computed, Entry, Literal
from relax_lint.support.lazy_dataclass import record

_MAX_LENGTH = 1 << 20
_MAX_DEPTH = 30
_STRIPPED = {"lstrip": str.lstrip, "rstrip": str.rstrip, "strip": str.strip}
_CLEANED = {"cleandoc": inspect.cleandoc, "dedent": textwrap.dedent}


@record(frozen=True)
class MadeText:
    """A text, and the values that names were assumed to have in it."""

    text: str
    assumptions: tuple[str, ...] = ()


class _UnknownError(Exception):
    pass


def text_of(
    node: ast.expr,
    entry: Callable[[str], Entry | None],
    is_pythons: Callable[[ast.expr], bool] = lambda _: True,
) -> MadeText | None:
    """The text; None where it cannot be told or is too long. `entry` tells what a name is bound to,
    `is_pythons` whether a function of such a name is the one of Python.
    """
    making = _Text(entry, is_pythons)
    try:
        return MadeText(making.of(node, 0), tuple(making.assumptions))
    except (_UnknownError, RecursionError):
        return None


class _Text:
    def __init__(self, entry: Callable[[str], Entry | None], is_pythons: Callable[[ast.expr], bool]) -> None:
        self.entry = entry
        self.is_pythons = is_pythons
        self.assumptions: dict[str, None] = {}
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
            case ast.Call(
                func=(ast.Attribute(attr=name) | ast.Name(id=name)) as function, args=[value], keywords=[]
            ) if name in _CLEANED and self.is_pythons(function):
                return _CLEANED[name](self.of(value, depth))
        raise _UnknownError

    def named(self, name: str, depth: int) -> str:
        if name not in self.known:
            self.known[name] = self.bound(self.entry(name), depth)
        return self.known[name]

    def bound(self, entry: Entry | None, depth: int) -> str:
        match entry:
            case Literal(value=str(text)):
                found = text
            case Computed(node=node):
                found = self.of(node, depth)
            case _:
                raise _UnknownError
        self.assume(entry)
        return found

    def assume(self, entry: Literal | Computed) -> None:
        if entry.assumption is not None:
            self.assumptions[entry.assumption] = None

    def part(self, node: ast.expr, depth: int) -> str:
        match node:
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self.number(value) or self.of(value, depth)
        return self.of(node, depth)

    def number(self, node: ast.expr) -> str | None:
        """A whole number as Python spells it."""
        entry = self.entry(node.id) if isinstance(node, ast.Name) else None
        match entry or node:
            case Literal(value=int(number)) | ast.Constant(value=int(number)) if number.bit_length() < 64:
                if isinstance(entry, Literal):
                    self.assume(entry)
                return str(number)
        return None
