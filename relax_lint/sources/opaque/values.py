"""Calls of unknown functions: what stands for an expression that cannot be read.

The VM knows as little of what an unknown function does as this tool does of what is not read: it may read and
write its arguments, return one of them, and the type of its result is only declared.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from relax_lint.sources.dialects.erasing import IsUnsaid, any_type, erased
from relax_lint.sources.dialects.rule import Context, keyword
from relax_lint.sources.names import RELAX, canonical
from relax_lint.sources.opaque.places import spelled
from relax_lint.vm.calls import UNREAD

_RESULT_TYPES = ("out_ty", "ty_args", "out_sinfo", "sinfo_args")
_KERNEL_CALLS = ("call_tir", "call_tir_with_grad", "call_dps_packed")


def relax_name(context: Context) -> str | None:
    """A name that stands for Relax's dialect."""
    return next((name for name, dotted in context.imports.items() if canonical(dotted) == RELAX), None)


def opaque_value(
    context: Context,
    value: ast.expr,
    declared: ast.expr | None,
    locals_: Iterable[str],
    is_unsaid: IsUnsaid,
    *,
    typed: bool = True,
) -> ast.expr | None:
    """A call of an unknown function with the values that an expression reads; None where the text has no name
    for Relax. The type is the `declared` one, else what the expression itself declares, else unknown.
    """
    relax = relax_name(context)
    if relax is None:
        return None
    names = sorted(_mentioned(value) & set(locals_))
    arguments: list[ast.expr] = [ast.copy_location(ast.Name(name, ast.Load()), value) for name in names]
    if typed and (allocated := _allocated(context, value, relax, arguments, is_unsaid)) is not None:
        return allocated
    type_ = _first_said(context, [declared, _own_type(value, relax)], is_unsaid) if typed else None
    return packed_call(relax, _what(value), arguments, type_, value)


def packed_call(
    relax: str, what: str, arguments: list[ast.expr], type_: ast.expr | None, at: ast.expr
) -> ast.expr:
    """`R.call_packed("not read: ...", ...)`."""
    call = ast.Call(_member(relax, "call_packed", at), [_text(UNREAD + what, at), *arguments], [])
    if type_ is not None:
        call.keywords.append(ast.copy_location(ast.keyword("ty_args", type_), at))
    return ast.copy_location(call, at)


def _allocated(
    context: Context, value: ast.expr, relax: str, arguments: list[ast.expr], is_unsaid: IsUnsaid
) -> ast.expr | None:
    """A call of a kernel whose result the VM allocates stays one."""
    if not isinstance(value, ast.Call) or context.relax(value.func) not in _KERNEL_CALLS:
        return None
    result = _result_type(value)
    if result is None or is_unsaid(result):
        return None
    given = ast.copy_location(ast.Tuple(arguments, ast.Load()), value)
    call = ast.Call(
        _member(relax, "call_dps_packed", value), [_text(UNREAD + _what(value), value), given], []
    )
    call.keywords.append(ast.copy_location(ast.keyword("out_ty", result), value))
    return ast.copy_location(call, value)


def _result_type(call: ast.Call) -> ast.expr | None:
    return next((found.value for name in _RESULT_TYPES if (found := keyword(call, name))), None)


def _own_type(value: ast.expr, relax: str) -> ast.expr | None:
    """The type that a call itself declares for its result."""
    if not isinstance(value, ast.Call) or (found := _result_type(value)) is None:
        return None
    if not isinstance(found, ast.Tuple | ast.List):
        return found
    if len(found.elts) == 1:
        return found.elts[0]
    return ast.copy_location(ast.Call(_member(relax, "Tuple", found), list(found.elts), []), found)


def _first_said(context: Context, types: Iterable[ast.expr | None], is_unsaid: IsUnsaid) -> ast.expr | None:
    for type_ in types:
        if type_ is not None and (left := erased(context, type_, is_unsaid)) is not None:
            return left
    return None


def unknown_type(context: Context, at: ast.expr) -> ast.expr | None:
    """`R.Any`."""
    relax = relax_name(context)
    return None if relax is None else any_type(_member(relax, "Any", at))


def _mentioned(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _what(value: ast.expr) -> str:
    """What is not read, in the words of the text: the function that would be called, else all of it."""
    return spelled(value.func if isinstance(value, ast.Call) else value)


def _member(root: str, name: str, at: ast.AST) -> ast.expr:
    dialect = ast.copy_location(ast.Name(root, ast.Load()), at)
    return ast.copy_location(ast.Attribute(dialect, name, ast.Load()), at)


def _text(text: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Constant(text), at)
