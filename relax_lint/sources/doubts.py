"""Why a name may be something else at a use than what the statement above it binds it to."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from relax_lint.sources.bound_names import Bound, bound_names
from relax_lint.sources.uses import DottedName, Uses

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_LOOPS = ast.For | ast.AsyncFor | ast.While


@dataclass(frozen=True)
class Span:
    """The time between a statement that binds a name in a scope and a use at a line; since the scope began
    where none is sure to have bound it. `is_own` where the use is in the scope itself, and not in a
    function inside it that may be called whenever.
    """

    uses: Uses
    scope: ast.AST
    bound: Bound | None
    line: int
    is_own: bool

    def may_run(self, node: ast.AST) -> bool:
        """Whether a node of the scope, or of a function inside it, may run in that time."""
        outermost, function, in_loop = node, None, False
        for around in self.uses.around(node):
            if around is self.scope:
                break
            if isinstance(around, _FUNCTIONS):
                outermost, function, in_loop = around, around, False
            in_loop = in_loop or (isinstance(around, _LOOPS) and self._repeats(_lines(around)))
        else:
            return False
        is_before = _start(outermost) < (self.line, 0)
        if function is None and self.bound is not None and _start(node) < _end(self.bound.statement):
            return False
        return is_before or in_loop or not self.is_own

    def _repeats(self, loop: range) -> bool:
        """Whether a loop comes to the use again without the binding."""
        return self.line in loop and (self.bound is None or self.bound.line not in loop)

    def bound_again(self, others: Iterable[Bound]) -> str | None:
        """Why the name may be bound to something else: by another statement of its scope, which runs again
        before the use or is below it.
        """
        for other in others:
            if self.bound is None or other.statement is self.bound.statement:
                continue
            is_below = not self.is_own and other.line > self.line
            if (is_below or self.may_run(other.statement)) and not _is_same(self.bound, other):
                return f"line {other.line} binds it too"
        return None

    def bound_elsewhere(self, name: str) -> str | None:
        """Why the name may be bound to something else: by a function or a class that declares it `global`."""
        kind = ast.Global if isinstance(self.scope, ast.Module) else ast.Nonlocal
        for declaration in self.uses.declared.get(name, ()):
            if isinstance(declaration, kind) and self.may_run(declaration):
                # In the file's own scope `global` says nothing.
                around = (one for one in self.uses.around(declaration) if isinstance(one, _DEFINITIONS))
                for definition in itertools.islice(around, 1):
                    for found, bound in bound_names(definition.body):
                        if found == name:
                            return f"line {bound.line} may bind it too"
        return None

    def bound_unseen(self) -> str | None:
        """Why the name may be bound to something else: by what binds names that it does not spell."""
        if isinstance(self.scope, ast.Module):
            for node in self.uses.opaque:
                if self.may_run(node):
                    return f"line {getattr(node, 'lineno', 0)} may bind it too"
        return None

    def changed(self, name: str, dotted: DottedName, is_flat: bool) -> str | None:
        """Why the value may be another one: something has changed it in place."""
        for one in self.uses.mentions.get(name, ()):
            is_meant = self.may_run(one) and not self.uses.is_another(one, self.scope)
            if is_meant and isinstance(one.ctx, ast.Load) and self.uses.is_handed_on(one, dotted, is_flat):
                return f"line {one.lineno} may change it"
        return None


def _is_same(one: Bound, other: Bound) -> bool:
    """Whether two statements bind a name to the same, as far as that can be seen without reading names."""
    if ast.dump(one.statement) != ast.dump(other.statement):
        return False
    if isinstance(one.statement, ast.Import | ast.ImportFrom):
        return True
    value = getattr(one.statement, "value", None)
    return value is not None and not any(isinstance(node, ast.Name) for node in ast.walk(value))


def _lines(node: ast.AST) -> range:
    first = getattr(node, "lineno", 0)
    return range(first, (getattr(node, "end_lineno", None) or first) + 1)


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(statement: ast.AST) -> tuple[int, int]:
    """Where a statement has bound its name: a compound one at its beginning."""
    if hasattr(statement, "body"):
        return _start(statement)
    return getattr(statement, "end_lineno", 0), getattr(statement, "end_col_offset", 0)
