"""Syntax of later releases of Python that a text may use and the running one may not read.

Type parameters (`def main[n, k: T.int32](x)`) declare the symbols of a function. They are taken out of every
text, so that each Python sees the same tree, and kept with the function.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping

from relax_lint.sources.vocabulary import TIR_DTYPE

Declared = Mapping[str, str]
"""The symbols that a function declares, with the element type of each."""

_DEFAULT = "int64"
_ATTRIBUTE = "declared_symbols"
# What can be followed by type parameters; a text without one of them is not looked at.
_MAY_DECLARE = re.compile(r"\b(?:def|class|type)[ \t\\]+\w+[ \t]*(?:\[|=)")
# Tokens between the brackets: who closes them much later has not forgotten to, but wants to be looked for.
_LONGEST = 4096
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def declared_by(function: ast.AST) -> Declared:
    """The symbols that a function's type parameters declare."""
    found: Declared = getattr(function, _ATTRIBUTE, {})
    return found


def element_type(node: ast.expr | None) -> str:
    """The element type of a symbol that is bound by an expression: `T.int32`, `"int32"`, `int` or nothing."""
    text = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Attribute):
        text = node.attr
    return text if isinstance(text, str) and TIR_DTYPE.fullmatch(text) else _DEFAULT


def without_later_syntax(content: str) -> tuple[str, dict[tuple[int, str], Declared]]:
    """The text with type parameters and the keyword of `type X = ...` blanked, so that nothing else moves,
    and the declared symbols by line and name of the definition.
    """
    if not _MAY_DECLARE.search(content):
        return content, {}
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", content)
    declared: dict[tuple[int, str], Declared] = {}
    for keyword, name, opening, closing in _parameter_lists(_tokens(content)):
        if keyword.string == "type":
            _swap(lines, keyword, name)
        if opening is not None and closing is not None:
            text = _between(lines, opening.start, closing.end)
            if keyword.string == "def":
                declared[keyword.start[0], name.string] = _symbols(text)
            _blank(lines, opening.start, closing.end)
    return "".join(lines), declared


def with_symbols(tree: ast.Module, declared: Mapping[tuple[int, str], Declared]) -> ast.Module:
    """The tree, whose functions know the symbols that they declare."""
    if declared:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (node.lineno, node.name) in declared:
                setattr(node, _ATTRIBUTE, declared[node.lineno, node.name])
    return tree


def _tokens(content: str) -> list[tokenize.TokenInfo]:
    """The tokens of a text up to where it cannot be read."""
    found: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(content, newline="").readline):
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                found.append(token)
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        pass
    return found


_Found = tuple[
    tokenize.TokenInfo, tokenize.TokenInfo, "tokenize.TokenInfo | None", "tokenize.TokenInfo | None"
]


def _parameter_lists(tokens: list[tokenize.TokenInfo]) -> Iterator[_Found]:
    """Keyword, name and brackets of each definition with type parameters; each `type` statement."""
    for index, keyword in enumerate(tokens[:-2]):
        name, opening = tokens[index + 1], tokens[index + 2]
        begins = index == 0 or tokens[index - 1].type in _BEFORE or tokens[index - 1].string in (":", ";")
        is_definition = keyword.string in ("def", "class")
        is_alias = keyword.string == "type" and begins and opening.string in ("=", "[")
        if name.type != tokenize.NAME or not (is_definition or is_alias):
            continue
        if opening.string == "[" and (end := _closing(tokens, index + 2)) is not None:
            follows = tokens[end + 1].string if end + 1 < len(tokens) else ""
            if follows in (("=",) if is_alias else ("(", ":")):
                yield keyword, name, opening, tokens[end]
        elif is_alias and opening.string == "=":
            yield keyword, name, None, None


_BEFORE = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def _closing(tokens: list[tokenize.TokenInfo], opening: int) -> int | None:
    depth = 0
    for index in range(opening, min(len(tokens), opening + _LONGEST)):
        if tokens[index].type == tokenize.OP:
            depth += (tokens[index].string in _OPENING) - (tokens[index].string in _CLOSING)
            if depth == 0:
                return index
    return None


_Point = tuple[int, int]


def _between(lines: list[str], start: _Point, end: _Point) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    middle = lines[start[0] : end[0] - 1]
    return "".join([lines[start[0] - 1][start[1] :], *middle, lines[end[0] - 1][: end[1]]])


def _blank(lines: list[str], start: _Point, end: _Point) -> None:
    """Put spaces in place of a part of the text. A line that ends inside of it goes on in the next."""
    for number in range(start[0], end[0] + 1):
        line = lines[number - 1]
        first = start[1] if number == start[0] else 0
        body = line.rstrip("\r\n")
        last = end[1] if number == end[0] else len(body)
        blank = " " * (last - first)
        if number != end[0]:
            blank = blank[:-1] + "\\" if blank else "\\"
        lines[number - 1] = line[:first] + blank + line[last:]


def _swap(lines: list[str], keyword: tokenize.TokenInfo, name: tokenize.TokenInfo) -> None:
    """`type X` becomes `X`, with spaces after it."""
    if keyword.start[0] == name.start[0]:
        line = lines[keyword.start[0] - 1]
        moved = name.string.ljust(name.end[1] - keyword.start[1])
        lines[keyword.start[0] - 1] = line[: keyword.start[1]] + moved + line[name.end[1] :]


def _symbols(text: str) -> Declared:
    """The symbols of `[n, k: T.int32]`; parameters of other kinds are none."""
    found: dict[str, str] = {}
    try:
        # What may stand between these brackets may stand between those of the parameters, too.
        function = ast.parse(f"def f({text[1:-1]}\n): pass").body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    if isinstance(function, ast.FunctionDef):
        for parameter in function.args.args:
            found[parameter.arg] = element_type(parameter.annotation)
    return found
