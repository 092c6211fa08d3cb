"""The values of simple expressions, without a detour over Python's compiler.

TVM's parser evaluates every node of an expression by itself: it turns the node back into Python's tree,
compiles that and runs it. When it does so the parts of the node are values already, so that what remains is
one call, one attribute or one item. Here that one step is taken directly; anything else goes TVM's way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tvm.script.parser.core import doc

_ABSENT = object()


def direct(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """`evaluate`, TVM's evaluation of one node over a table of names, with simple nodes done directly."""

    def value_of(node: Any, names: dict[str, Any] | None) -> Any:
        value = _simple(node, names or {})
        return evaluate(node, names) if value is _ABSENT else value

    return value_of


def direct_assignment(assign: Callable[..., Any]) -> Callable[..., Any]:
    """`assign`, TVM's binding of a target's names to a value, with single names done directly."""

    def bound(target: Any, value: Any) -> Any:
        return {target.id: value} if type(target) is doc.Name else assign(target, value)

    return bound


def _simple(node: Any, names: Mapping[str, Any]) -> Any:
    kind = type(node)
    if kind is doc.Call:
        return _call(node, names)
    if kind is doc.Attribute:
        value = _leaf(node.value, names)
        return value if value is _ABSENT else getattr(value, node.attr)
    if kind is doc.Subscript:
        value, item = _leaf(node.value, names), _leaf(node.slice, names)
        return _ABSENT if value is _ABSENT or item is _ABSENT else value[item]
    if kind is doc.Tuple:
        items = [_leaf(item, names) for item in node.elts]
        return _ABSENT if any(item is _ABSENT for item in items) else tuple(items)
    return _leaf(node, names)


def _call(node: Any, names: Mapping[str, Any]) -> Any:
    function = _leaf(node.func, names)
    positional = [_leaf(argument, names) for argument in node.args]
    named = {keyword.arg: _leaf(keyword.value, names) for keyword in node.keywords}
    if None in named or len(named) < len(node.keywords):
        return _ABSENT
    if any(value is _ABSENT for value in (function, *positional, *named.values())):
        return _ABSENT
    return function(*positional, **named)


def _leaf(node: Any, names: Mapping[str, Any]) -> Any:
    kind = type(node)
    if kind is doc.Name:
        return names.get(node.id, _ABSENT)
    return node.value if kind is doc.Constant else _ABSENT
