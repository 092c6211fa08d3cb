"""Which functions of a module what was taken out of its tree may call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from relax_lint.sources.opaque.places import Place, assigned_names, functions_of, place_of


def unread_mentions(
    text: ast.ClassDef | ast.FunctionDef, left: ast.ClassDef | ast.FunctionDef
) -> Mapping[str, frozenset[str | None]]:
    """The functions of a module that its text mentions where the tree that is left of it does not any more,
    each with the functions that it does so in (None for the module as a whole).

    Who is given the module itself may call any of them.
    """
    if not isinstance(text, ast.ClassDef):
        return {}
    kept = {_as_said(node) for node in ast.walk(left)}
    names = {function.name for function in functions_of(text)}
    found: dict[str, set[str | None]] = {}
    for part in [*text.decorator_list, *text.body]:
        where = part.name if isinstance(part, ast.FunctionDef) else None
        for name in _mentioned(part, names, modules_of(text, part), kept):
            found.setdefault(name, set()).add(where)
    return {name: frozenset(places) for name, places in found.items()}


def called_in_python(root: ast.ClassDef, part: ast.FunctionDef) -> set[str]:
    """The functions of a module that a member of its class may call which is a function in Python. What its
    class inherits may lead to any of them.
    """
    names = {function.name for function in functions_of(root)}
    modules = modules_of(root, part)
    for node in ast.walk(part):
        match node:
            case ast.Attribute(attr=name, value=ast.Name(id=of)) if of in modules and name not in names:
                if name not in _KERNEL_CALLS:
                    return names
    return _mentioned(part, names, modules, set())


_KERNEL_CALLS = ("call_tir", "call_dps_packed")


def _mentioned(
    part: ast.AST, names: set[str], modules: set[str], kept: set[tuple[Place | None, str]]
) -> set[str]:
    found = set[str]()
    roots, locals_, others = _roots(part), _locals(part), members_of(part, modules)
    for node in ast.walk(part):
        if _as_said(node) in kept:
            continue
        match node:
            case ast.Attribute(attr=name, value=ast.Name(id=root)) if root in modules:
                found.add(name)
            case ast.Name(id=name, ctx=ast.Load()) if name in modules and id(node) not in roots:
                found |= names
            case ast.Name(id=name, ctx=ast.Load()):
                found |= others.get(name, set()) if name in locals_ else {name}
            case ast.Constant(value=str(name)):
                found.add(name)
    return found & names


def _as_said(node: ast.AST) -> tuple[Place | None, str]:
    """What a node that may mention a function says, and where: what is changed stays at its place."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)):
            return place_of(node), name
    return None, ""


def _locals(part: ast.AST) -> set[str]:
    """The names that a part of a module binds itself."""
    arguments = {node.arg for node in ast.walk(part) if isinstance(node, ast.arg)}
    return arguments | assigned_names(part)


def modules_of(root: ast.ClassDef, part: ast.AST) -> set[str]:
    """The names that a part of a module has for the module: that of the class, or `cls = Module`."""
    found = {root.name, "cls", "self"}
    renamed = [(name, value.id) for name, value in _named(part) if isinstance(value, ast.Name)]
    # Names of names, in whatever order.
    for _ in renamed:
        found |= {name for name, other in renamed if other in found}
    return found


def members_of(part: ast.AST, modules: set[str]) -> dict[str, set[str]]:
    """The members of a module that the names of a part of it may be or hold: `g = cls.f`, `t = (g, x)`."""
    held = list[tuple[str, set[str]]]()
    found: dict[str, set[str]] = {}
    for name, value in _given(part):
        mine, names = _held(value, modules)
        found.setdefault(name, set()).update(mine)
        held.append((name, names))
    grows = True
    while grows:
        # Names of names, in whatever order.
        grows = False
        for name, names in held:
            more = set[str]().union(*(found.get(one, set()) for one in names)) - found[name]
            found[name] |= more
            grows = grows or bool(more)
    return found


def _held(value: ast.expr, modules: set[str]) -> tuple[set[str], set[str]]:
    """The members of a module that a value is or holds, and the names that it may have them of. What a call
    of a member gives is not the member.
    """
    members, names = set[str](), set[str]()
    left = [value]
    while left:
        match left.pop():
            case ast.Attribute(attr=member, value=ast.Name(id=root)) if root in modules:
                members.add(member)
            case ast.Name(id=name):
                names.add(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                left += parts
            case ast.Subscript(value=whole) | ast.NamedExpr(value=whole):
                left.append(whole)
            case ast.IfExp(body=one, orelse=other):
                left += one, other
    return members, names


def _given(part: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that get a value, or a field of one, with that."""
    for node in ast.walk(part):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((name, value) for target in targets for name in sorted(assigned_names(target)))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from ((name, value) for name in sorted(assigned_names(target)))
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                yield name, value


def _named(part: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that get one value each, with that."""
    for node in ast.walk(part):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def _roots(part: ast.AST) -> set[int]:
    """The names that only a member is taken of, or that only get another name."""
    of_members = {id(node.value) for node in ast.walk(part) if isinstance(node, ast.Attribute)}
    return of_members | {id(value) for _, value in _named(part)}
