"""Rewriting of TVMScript written for other releases of TVM, on the syntax tree, so that positions stay."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from relax_lint.sources.dialects import (
    calls,
    constants,
    declared,
    printed,
    statements,
    struct_info,
    symbols,
    tir,
)
from relax_lint.sources.dialects.rule import Context, Rule

# The keyword renames come first: later rules look at the names of today.
RULES: tuple[Rule, ...] = (
    *struct_info.RULES,
    *declared.RULES,
    *tir.RULES,
    *statements.RULES,
    calls.SIBLINGS,
    *symbols.RULES,
    *calls.RULES,
    *printed.RULES,
    *constants.RULES,
)
# Only for a text that another rule has shown to be old: today a missing `pure=False` is a mistake.
PURITY = calls.PURITY
# For every text: no release that this tool runs with reads it as it stands.
ALWAYS = declared.ALWAYS

# What TVM itself prints and does not read.
PRINTED = (*printed.RULES, *constants.RULES)

Tree = ast.ClassDef | ast.FunctionDef
_Node = TypeVar("_Node", bound=ast.AST)


def rewritten(
    node: Tree,
    imports: Mapping[str, str],
    rules: Sequence[Rule],
    declared_symbols: Mapping[str, str] = MappingProxyType({}),
    known: frozenset[str] = frozenset(),
    printed: bool = False,
) -> tuple[Tree, list[Rule], tuple[str, ...]]:
    """A copy of a unit's tree in today's dialect, the rules that found something to change, and what they
    assumed.
    """
    tree = _copied(node)
    context = Context(imports, tree, declared_symbols, known | frozenset(imports), printed)
    found = [rule for rule in rules if rule.apply(context)]
    return tree, found, tuple(context.assumptions)


def _copied(node: _Node) -> _Node:
    """A tree of its own; a tenth of the time of `copy.deepcopy`, which looks for nodes that occur twice."""
    copy = node.__class__.__new__(node.__class__)
    for name, value in node.__dict__.items():
        if isinstance(value, ast.AST):
            value = _copied(value)
        elif isinstance(value, list):
            value = [_copied(item) if isinstance(item, ast.AST) else item for item in value]
        copy.__dict__[name] = value
    return copy


def described(rules: Sequence[Rule]) -> str:
    """The note for a text that was rewritten."""
    old = sorted((rule.last for rule in rules if rule.last[-1] != "+"), key=_version)
    names = ", ".join(rule.name for rule in rules)
    if all(rule.name.startswith("printed") for rule in rules):
        return f"read as a module printed by TVM ({names})"
    if not old:
        return f"read as TVMScript newer than TVM 0.27 ({names})"
    return f"read as TVMScript for TVM {old[0]} or older ({names})"


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
