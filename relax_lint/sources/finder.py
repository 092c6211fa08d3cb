"""Finding TVMScript definitions in a file's syntax tree, at any depth and under any import alias."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.sources.names import IR, RELAX, TIR, chain
from relax_lint.sources.scopes import Scope, dotted_name, environment, resolve
from relax_lint.sources.standing import shortened
from relax_lint.sources.text import SourceText
from relax_lint.sources.unit import Computed, FileUnits, Imported, Unit, Unknown
from relax_lint.sources.unknown_decorators import like_a_unit

_KINDS = {
    IR + ".ir_module": "module",
    RELAX + ".function": "function",
    TIR + ".prim_func": "prim_func",
    TIR + ".function": "prim_func",
}


def find_units(tree: ast.Module, text: SourceText) -> FileUnits:
    """The ir_module classes and the Relax functions that stand alone, in the order of the text, without those
    that are meant to fail, and the number of these; and what looks like one and cannot be told to be one.
    Modules of kernels alone are left out.
    """
    finder = _Finder(text)
    units = list(finder.walk(Scope(tree, None, finder.unit_of)))
    judged = [unit for unit in units if unit.node not in finder.meant_to_fail]
    return FileUnits(tuple(judged), tuple(finder.unknown), meant_to_fail=len(units) - len(judged))


class _Finder:
    def __init__(self, text: SourceText) -> None:
        self.text = text
        self.found: dict[ast.AST, Unit | None] = {}
        self.meant_to_fail: set[ast.AST] = set()
        self.unknown: list[Problem] = []

    def walk(self, scope: Scope) -> Iterator[Unit]:
        """Units below a scope; what is inside a unit belongs to it."""
        for node, is_meant_to_fail in _definitions(scope.node, scope.node in self.meant_to_fail):
            if is_meant_to_fail:
                self.meant_to_fail.add(node)
            unit = self.unit_of(node, scope)
            if unit is None:
                yield from self._inside(node, scope)
            elif unit.kind != "prim_func" and not self._holds_kernels_alone(unit, scope):
                yield unit

    def _inside(self, node: _Definition, scope: Scope) -> Iterator[Unit]:
        """Units in a definition that is none. If there is none, and it is written as one would be,
        something of the file decides whether it is one, and that must be said.
        """
        said = len(self.unknown)
        inner = list(self.walk(scope.child(node)))
        decorator = None if inner or node in self.meant_to_fail else like_a_unit(node)
        if decorator is not None:
            # Once, not for each function of a module too.
            self.unknown[said:] = [self._unknown(node, decorator, scope)]
        yield from inner

    def _unknown(self, node: _Definition, decorator: ast.expr, scope: Scope) -> Problem:
        spelled = ast.unparse(decorator)
        parts = chain(decorator)
        entry = resolve(parts[0], scope, node.lineno) if parts is not None else None
        match entry:
            case Imported(dotted=dotted) if parts is not None:
                why = f"imported as `{'.'.join((dotted, *parts[1]))}`"
            case Unknown(reason=why):
                pass
            case Computed(node=value):
                why = f"computed by `{shortened(value)}`"
            case _:
                why = "it is not what TVM offers"
        reason = f"the value of `{spelled}` is unknown: {why}"
        return Problem(ProblemKind.UNRESOLVED_NAME, reason, self.text.location(decorator), unit=node.name)

    def _holds_kernels_alone(self, unit: Unit, scope: Scope) -> bool:
        """Whether a module has definitions, and each of them is a kernel."""
        definitions = [node for node in unit.node.body if isinstance(node, ast.FunctionDef)]
        others = [node for node in unit.node.body if not isinstance(node, ast.FunctionDef | ast.Expr)]
        if unit.kind != "module" or not definitions or others:
            return False
        return all(self._kind(node, scope) == "prim_func" for node in definitions)

    def _kind(self, node: ast.FunctionDef, scope: Scope) -> str | None:
        # Of several decorators TVM looks at the last.
        for decorator in reversed(node.decorator_list):
            kind = _kind_by(_meant(decorator, scope, node.lineno), scope, node.lineno)
            if kind is not None:
                return kind
        return None

    def unit_of(self, node: ast.AST, scope: Scope) -> Unit | None:
        """The unit that a definition is; None if it is ordinary Python, or refers to itself in a circle."""
        if node not in self.found:
            self.found[node] = None
            self.found[node] = self._cut(node, scope)
        return self.found[node]

    def _cut(self, node: ast.AST, scope: Scope) -> Unit | None:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            return None
        for decorator in node.decorator_list:
            meant = _meant(decorator, scope, node.lineno)
            kind = _kind_by(meant, scope, node.lineno)
            if kind is None or (kind == "module") != isinstance(node, ast.ClassDef):
                continue
            return Unit(
                name=node.name,
                kind=kind,
                line=self.text.place(node.lineno, node.col_offset)[0],
                text=self.text,
                node=node,
                environment=environment(node, scope, decorator.lineno),
                check_well_formed=_flag(meant, "check_well_formed"),
            )
        return None


def _meant(decorator: ast.expr, scope: Scope, line: int) -> ast.expr:
    """A decorator, or the call that a name stands for: `fused = R.function(private=True)`."""
    if isinstance(decorator, ast.Name):
        entry = resolve(decorator.id, scope, line)
        if isinstance(entry, Computed) and isinstance(entry.node, ast.Call):
            return entry.node
    return decorator


def _kind_by(decorator: ast.expr, scope: Scope, line: int) -> str | None:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return _KINDS.get(dotted_name(called, scope, line) or "")


_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _definitions(node: ast.AST, is_meant_to_fail: bool) -> Iterator[tuple[_Definition, bool]]:
    """The definitions below a node, each with whether it is inside `with pytest.raises(...)`."""
    inside = is_meant_to_fail or (isinstance(node, ast.With) and any(map(_expects_failure, node.items)))
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            yield child, inside
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _definitions(child, inside)


def _expects_failure(item: ast.withitem) -> bool:
    match item.context_expr:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name == "raises" or name.startswith("assertRaises")
    return False


def _flag(decorator: ast.expr, name: str) -> bool:
    if isinstance(decorator, ast.Call):
        for keyword in decorator.keywords:
            if keyword.arg == name and isinstance(keyword.value, ast.Constant):
                return bool(keyword.value.value)
    return True
