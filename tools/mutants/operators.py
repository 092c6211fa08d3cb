"""The faults: what is put in the place of one node of a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeAlias

Fault: TypeAlias = "tuple[str, ast.AST]"
"""The name of the operator, and the node that takes the place."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_PAIRS = (
    ("any", "all"),
    ("min", "max"),
    ("And", "Or"),
    ("Min", "Max"),
    ("Le", "Lt"),
    ("Ge", "Gt"),
    ("Eq", "Ne"),
    ("true", "false"),
    ("floor", "ceiling"),
    ("union", "intersection"),
    ("update", "intersection_update"),
    ("at_most", "below"),
    ("first", "last"),
)
_NAMES = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_MEMBERS = {
    "Certainty": {"MUST": "MAY", "MAY": "MUST"},
    "Verdict": {
        "ALWAYS_FINE": "NEEDS_RUNTIME_CHECK",
        "ALWAYS_WRONG": "NEEDS_RUNTIME_CHECK",
        "NEEDS_RUNTIME_CHECK": "ALWAYS_FINE",
    },
    "FactKind": {"ENFORCED": "ASSUMED", "ASSUMED": "ENFORCED", "GLOBAL": "ASSUMED"},
    "Sign": {"NON_NEGATIVE": "ZERO", "ZERO": "NON_NEGATIVE", "NON_ZERO": "ZERO"},
    "Allocator": {"POOLED": "NAIVE", "NAIVE": "POOLED"},
    "Unit": {"ELEMENTS": "BYTES", "BYTES": "ELEMENTS"},
    "Provenance": {"EXTENT": "VALUE", "VALUE": "EXTENT", "UNDEFINED": "VALUE"},
    "BoundKind": {"UPPER": "LOWER", "LOWER": "UPPER"},
    "Returns": {"FRESH": "UNKNOWN", "UNKNOWN": "FRESH", "ARGUMENT": "FRESH", "VIEW": "FRESH"},
    "ViewKind": {"COPY": "RESHAPE", "RESHAPE": "COPY", "MEMORY_VIEW": "RESHAPE", "ZERO_OFFSET": "COPY"},
    "KillKind": {"OBJECT": "TENSOR", "TENSOR": "STORAGE", "STORAGE": "TENSOR"},
    "FailureStatus": {"NEVER": "UNKNOWN", "UNKNOWN": "NEVER", "FAILS": "NEVER"},
    "Inventory": {"STORAGES": "TENSORS", "TENSORS": "STORAGES"},
    "ExecMode": {"BYTECODE": "COMPILED", "COMPILED": "BYTECODE"},
}
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def faults(node: ast.AST, parent: ast.AST, returns: str) -> Iterator[Fault]:
    """What may take the place of a node, given what it stands in and what its function says it returns."""
    if isinstance(node, ast.Return):
        yield from _of_return(node, returns)
    elif isinstance(node, ast.Tuple):
        yield from _of_tuple(node, parent)
    elif isinstance(node, ast.Name | ast.Attribute):
        yield from _of_name(node)
    else:
        yield from _BY_KIND.get(type(node), _none)(node)


def _none(node: ast.AST) -> Iterator[Fault]:
    yield from ()


def _compare(node: ast.Compare) -> Iterator[Fault]:
    for place, kind in enumerate(node.ops):
        ops = [*node.ops]
        ops[place] = _COMPARISONS[type(kind)]()
        yield "comparison", ast.Compare(node.left, ops, node.comparators)


def _bool_op(node: ast.BoolOp) -> Iterator[Fault]:
    yield "and, or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for place in range(len(node.values)):
        left = node.values[:place] + node.values[place + 1 :]
        yield "operand dropped", left[0] if len(left) == 1 else ast.BoolOp(node.op, left)


def _bin_op(node: ast.BinOp) -> Iterator[Fault]:
    if _is_text(node.left) or _is_text(node.right):
        return
    is_union = isinstance(node.op, ast.BitOr | ast.BitAnd)
    if type(node.op) in _ARITHMETIC and not _is_type(node):
        other = _ARITHMETIC[type(node.op)]()
        yield "union, intersection" if is_union else "arithmetic", ast.BinOp(node.left, other, node.right)
    yield "operand dropped", node.left
    if is_union or isinstance(node.op, ast.Add):
        yield "operand dropped", node.right


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_type(node: ast.BinOp) -> bool:
    """Whether it is a union of classes."""
    name = node.right.attr if isinstance(node.right, ast.Attribute) else None
    name = node.right.id if isinstance(node.right, ast.Name) else name
    return isinstance(node.op, ast.BitOr) and name is not None and name[:1].isupper() and not name.isupper()


def _unary_op(node: ast.UnaryOp) -> Iterator[Fault]:
    if isinstance(node.op, ast.Not):
        yield "negation", node.operand
    elif isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "sign", node.operand


def _constant(node: ast.Constant) -> Iterator[Fault]:
    if isinstance(node.value, bool):
        yield "truth", ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield "off by one", ast.Constant(node.value + 1)


def _if(node: ast.If) -> Iterator[Fault]:
    if _can_be_negated(node.test):
        yield "negation", ast.If(_not(node.test), node.body, node.orelse)
    if node.orelse:
        return
    name = "guard dropped" if isinstance(node.body[-1], _LEAVES) else "branch skipped"
    yield name, ast.If(ast.Constant(False), node.body, [])
    if name == "branch skipped":
        yield "condition dropped", ast.If(ast.Constant(True), node.body, [])


def _can_be_negated(test: ast.expr) -> bool:
    """Whether negating it is not a fault of its own kind already."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    return not isinstance(test, ast.UnaryOp | ast.Constant)


def _not(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), node)


def _if_exp(node: ast.IfExp) -> Iterator[Fault]:
    if _can_be_negated(node.test):
        yield "negation", ast.IfExp(_not(node.test), node.body, node.orelse)


def _while(node: ast.While) -> Iterator[Fault]:
    yield "branch skipped", ast.While(ast.Constant(False), node.body, node.orelse)


def _for(node: ast.For) -> Iterator[Fault]:
    if not isinstance(node.body[-1], _LEAVES):
        yield (
            "one round",
            ast.For(node.target, node.iter, [*node.body, ast.Break()], node.orelse, node.type_comment),
        )


def _comprehension(node: ast.comprehension) -> Iterator[Fault]:
    for place, test in enumerate(node.ifs):
        others = node.ifs[:place] + node.ifs[place + 1 :]
        yield "guard dropped", ast.comprehension(node.target, node.iter, others, node.is_async)
        if _can_be_negated(test):
            changed = [*node.ifs[:place], _not(test), *node.ifs[place + 1 :]]
            yield "negation", ast.comprehension(node.target, node.iter, changed, node.is_async)


def _case(node: ast.match_case) -> Iterator[Fault]:
    yield "case skipped", ast.match_case(node.pattern, ast.Constant(False), node.body)
    if node.guard is not None:
        yield "guard dropped", ast.match_case(node.pattern, None, node.body)


def _expr(node: ast.Expr) -> Iterator[Fault]:
    if isinstance(node.value, ast.Call):
        yield "statement dropped", ast.Pass()
    elif isinstance(node.value, ast.Yield | ast.YieldFrom):
        # The function stays a generator.
        yield "statement dropped", ast.If(ast.Constant(False), [node], [])


def _assign(node: ast.Assign) -> Iterator[Fault]:
    if all(isinstance(target, ast.Subscript) for target in node.targets):
        yield "statement dropped", ast.Pass()


def _aug_assign(node: ast.AugAssign) -> Iterator[Fault]:
    yield "statement dropped", ast.Pass()
    other = _ARITHMETIC.get(type(node.op))
    if other is not None:
        yield "arithmetic", ast.AugAssign(node.target, other(), node.value)


def _collection(node: ast.List | ast.Set) -> Iterator[Fault]:
    for place in range(len(node.elts)):
        left = node.elts[:place] + node.elts[place + 1 :]
        if isinstance(node, ast.List):
            yield "element dropped", ast.List(left, node.ctx)
        elif left:
            yield "element dropped", ast.Set(left)
        else:
            yield "element dropped", ast.Call(ast.Name("set", ast.Load()), [], [])


def _dict(node: ast.Dict) -> Iterator[Fault]:
    for place in range(len(node.keys)):
        keys, values = [*node.keys], [*node.values]
        del keys[place], values[place]
        yield "element dropped", ast.Dict(keys, values)


def _of_tuple(node: ast.Tuple, parent: ast.AST) -> Iterator[Fault]:
    """A tuple that is a collection: what is looked in, iterated over or passed on."""
    if not isinstance(parent, ast.Compare | ast.Call | ast.Assign | ast.AnnAssign | ast.Starred | ast.For):
        return
    if isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        for place in range(len(node.elts)):
            yield "element dropped", ast.Tuple(node.elts[:place] + node.elts[place + 1 :], node.ctx)


def _of_name(node: ast.Name | ast.Attribute) -> Iterator[Fault]:
    """Another member of an enumeration, or the opposite function."""
    if not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node, ast.Name):
        if node.id in ("any", "all", "min", "max"):
            yield "opposite name", ast.Name(_NAMES[node.id], node.ctx)
        return
    owner = node.value.id if isinstance(node.value, ast.Name) else ""
    if node.attr in _MEMBERS.get(owner, {}):
        yield "other member", ast.Attribute(node.value, _MEMBERS[owner][node.attr], node.ctx)
    elif node.attr in _NAMES and owner in ("sympy", "sp"):
        yield "opposite name", ast.Attribute(node.value, _NAMES[node.attr], node.ctx)
    elif node.attr in ("union", "intersection"):
        yield "union, intersection", ast.Attribute(node.value, _NAMES[node.attr], node.ctx)


def _of_return(node: ast.Return, returns: str) -> Iterator[Fault]:
    value = node.value
    if value is None or isinstance(value, ast.Constant):
        return
    if returns == "bool" and _can_be_negated(value):
        yield "returned value", ast.Return(_not(value))
        return
    nothing = _nothing(returns)
    if nothing is not None and ast.dump(nothing) != ast.dump(value) and not _is_empty(value):
        yield "returned value", ast.Return(nothing)


def _is_empty(value: ast.expr) -> bool:
    """Whether a value is written as a collection of nothing."""
    if isinstance(value, ast.Call):
        plain = isinstance(value.func, ast.Name) and value.func.id in (
            "set",
            "frozenset",
            "list",
            "dict",
            "tuple",
        )
        return plain and not value.args and not value.keywords
    return (isinstance(value, ast.List | ast.Tuple) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.values
    )


def _nothing(returns: str) -> ast.expr | None:
    """What a function may return that found nothing."""
    if returns.endswith("| None"):
        return ast.Constant(None)
    if returns.startswith("tuple[") and returns.endswith(", ...]"):
        return ast.Tuple([], ast.Load())
    if returns.startswith(("set[", "frozenset[", "list[", "dict[")):
        return ast.Call(ast.Name(returns.partition("[")[0], ast.Load()), [], [])
    return None


def _continue(node: ast.Continue) -> Iterator[Fault]:
    yield "loop left", ast.Break()


def _break(node: ast.Break) -> Iterator[Fault]:
    yield "loop left", ast.Continue()


_BY_KIND: dict[type[ast.AST], Callable[..., Iterator[Fault]]] = {
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.BinOp: _bin_op,
    ast.UnaryOp: _unary_op,
    ast.Constant: _constant,
    ast.If: _if,
    ast.IfExp: _if_exp,
    ast.While: _while,
    ast.For: _for,
    ast.comprehension: _comprehension,
    ast.match_case: _case,
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AugAssign: _aug_assign,
    ast.List: _collection,
    ast.Set: _collection,
    ast.Dict: _dict,
    ast.Continue: _continue,
    ast.Break: _break,
}
