"""What TVM's parser of scripts does, without what it does for nothing: it took half of the tests' own time.

Of every expression it makes a tree of Python's nodes, compiles that and evaluates it, also where all that is left to do
is one call with values that it knows; and it compares every field of every node with several constants first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import tvm
from tvm.script.parser.core import doc, evaluator
from tvm.script.parser.core.parser import ScriptMacro

IS_UNDERSTOOD = tvm.__version__.startswith("0.27.")
"""What is replaced here is written otherwise in other releases."""

_PLAIN = frozenset(map(type, (None, ..., True, 0, 0.0, 0j, "", b"")))
_SETTLED = (doc.Name, doc.Constant, doc.expr_context, doc.operator, doc.boolop, doc.unaryop, doc.cmpop)
"""What is a value already: nothing is made that remembers where it was made."""

_CALL = compile("called(*given, **by_name)", __file__, "eval")

_evaluated: Callable[[Any, Any], Any] = evaluator._eval_expr
_visited: Callable[[Any, Any], Any] = evaluator.ExprEvaluator._visit
_TABLE = doc.Registry._inst.table
_COMPLETE = {name: (entry.to_doc, entry.from_doc) for name, entry in _TABLE.items()}
_QUICK: dict[str, tuple[Any, Any]] = {}


def install() -> None:
    """From now on TVM's parser is quick."""
    if IS_UNDERSTOOD and evaluator._eval_expr is _evaluated:
        from tests import kept_kernels

        kept_kernels.install()
        _replace(_value, _visit, _QUICK or _copiers())


def remove() -> None:
    """From now on it is as TVM wrote it."""
    if evaluator._eval_expr is not _evaluated:
        from tests import kept_kernels

        kept_kernels.remove()
        _replace(_evaluated, _visited, _COMPLETE)


def _replace(value: Any, visit: Any, copiers: Mapping[str, tuple[Any, Any]]) -> None:
    evaluator._eval_expr, evaluator.ExprEvaluator._visit = value, visit
    for name, (to_doc, from_doc) in copiers.items():
        _TABLE[name].to_doc, _TABLE[name].from_doc = to_doc, from_doc


def _copiers() -> dict[str, tuple[Any, Any]]:
    to_doc: dict[type, Any] = {}
    from_doc: dict[type, Any] = {}
    for name, (there, back) in _COMPLETE.items():
        one, other = getattr(ast, name), getattr(doc, name)
        to_doc[one], from_doc[other] = (
            _copier(there, to_doc, doc.to_doc),
            _copier(back, from_doc, doc.from_doc),
        )
        _QUICK[name] = to_doc[one], from_doc[other]
    return _QUICK


def _copier(complete: Any, known: Mapping[type, Any], copied: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """In the place of what copies the nodes of one class."""
    make, fields = complete.doc_cls, tuple(complete.fields)

    def copy_of(value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is list:
            return [copy_of(item) for item in value]
        return known[kind](value) if kind in known else copied(value)

    return lambda node: make(**{field: copy_of(getattr(node, field, None)) for field in fields})


class _NotSettled(Exception):
    """There is more to do than one operation with values that are known."""


def _value(node: Any, names: Mapping[str, Any]) -> Any:
    """In the place of `_eval_expr`."""
    kind = type(node)
    try:
        if kind is doc.Call and all(one.arg for one in node.keywords):
            called, given = _settled(node.func, names), [_settled(one, names) for one in node.args]
            by_name = {one.arg: _settled(one.value, names) for one in node.keywords}
        elif kind is doc.Attribute:
            of = _settled(node.value, names)
        elif kind is doc.Subscript:
            of, key = _settled(node.value, names), _settled(node.slice, names)
        else:
            return _settled(node, names)
    except _NotSettled:
        return _evaluated(node, names)
    if kind is doc.Call:
        # A macro looks for the parser among the globals of those who call it.
        parser = names.get(ScriptMacro.parser_object_name)
        known = {"called": called, "given": given, "by_name": by_name, ScriptMacro.parser_object_name: parser}
        return eval(_CALL, known)
    return getattr(of, node.attr) if kind is doc.Attribute else of[key]


def _settled(node: Any, names: Mapping[str, Any]) -> Any:
    kind = type(node)
    if kind is doc.Name and node.id in names:
        return names[node.id]
    if kind is doc.Constant:
        return node.value
    if kind is doc.Tuple:
        return tuple([_settled(item, names) for item in node.elts])
    if kind is doc.List:
        return [_settled(item, names) for item in node.elts]
    raise _NotSettled


def _visit(self: Any, node: Any) -> Any:
    """In the place of `ExprEvaluator._visit`."""
    return self._visit_node(node) if isinstance(node, _SETTLED) else _visited(self, node)
