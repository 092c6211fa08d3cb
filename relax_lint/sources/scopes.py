"""What the names around a unit are bound to, read off the syntax tree: nothing is imported or executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from relax_lint.sources.bound_names import STAR, Bound, bound_names, changed_names, target_names
from relax_lint.sources.called_imports import module_of
from relax_lint.sources.doubts import Span
from relax_lint.sources.import_statements import imported_from, imported_module
from relax_lint.sources.literal import NotLiteralError, TooLargeError, literal_value, weight
from relax_lint.sources.mutable import is_flat, may_change
from relax_lint.sources.names import DEFAULT_IMPORTS, IR, RELAX, TIR, Offer, canonical, chain, offer
from relax_lint.sources.newer_python import declared_by
from relax_lint.sources.parametrize import Taken, declared_value, parameter_names, taken_value
from relax_lint.sources.shape_text import names_in
from relax_lint.sources.standing import (
    assumed,
    is_itself,
    is_of_tvm,
    is_same,
    itself,
    shortened,
    standing_alone,
)
from relax_lint.sources.unit import Computed, Entry, Imported, Literal, Sibling, Unit, Unknown
from relax_lint.sources.uses import Uses
from relax_lint.sources.vocabulary import BUILTIN_NAMES

_DIALECTS = (RELAX + ".", TIR + ".", IR + ".")
# Whose star imports leave the functions of Python alone.
_PACKAGES_WITHOUT_BUILTINS = frozenset({"math", "tvm", "typing"})
_MAX_WEIGHT = 65536
_MAX_NODES = 5000

ScopeNode = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# The unit that a definition is, when it is one; asked for siblings.
UnitOf = Callable[[ast.AST, "Scope"], "Unit | None"]


@dataclass
class Scope:
    """One lexical scope: its node, the scope around it, and the statements that bind names in it."""

    node: ScopeNode
    parent: Scope | None
    unit_of: UnitOf
    bindings: dict[str, list[Bound]] = field(default_factory=dict)
    # The statements that change the values of names in place.
    changes: dict[str, list[Bound]] = field(default_factory=dict)
    # What was found out already, by name and binding statement; a text can be written so that
    # finding it out again and again would never end.
    known: dict[tuple[str, ast.AST], Entry] = field(default_factory=dict)
    _uses: Uses | None = None

    def __post_init__(self) -> None:
        if isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef):
            for name in parameter_names(self.node):
                self.bindings[name] = [Bound(self.node.lineno, self.node.args, None)]
        for name, bound in bound_names(self.node.body):
            self.bindings.setdefault(name, []).append(bound)
        for name, bound in changed_names(self.node.body):
            self.changes.setdefault(name, []).append(bound)

    def child(self, node: ScopeNode) -> Scope:
        """The scope that a definition in this one opens."""
        return Scope(node, self, self.unit_of)

    def outwards(self) -> Iterator[Scope]:
        """This scope and those around it, the file last."""
        current: Scope | None = self
        while current is not None:
            yield current
            current = current.parent

    def uses(self) -> Uses:
        """What the file does with its names."""
        if self.parent is not None:
            return self.parent.uses()
        if self._uses is None:
            assert isinstance(self.node, ast.Module)
            self._uses = Uses(self.node)
        return self._uses


def dotted_name(node: ast.expr, scope: Scope, line: int) -> str | None:
    """The canonical dotted name of an attribute chain; None where its root is not an import."""
    parts = chain(node)
    if parts is None:
        return None
    entry = resolve(parts[0], scope, line)
    if not isinstance(entry, Imported):
        return None
    return canonical(".".join((entry.dotted, *parts[1])))


def resolve(name: str, scope: Scope, line: int) -> Entry | None:
    """What `name` is bound to at `line` in `scope`; None if it is undefined."""
    if (entry := _resolved(name, scope, scope, line)) is not None:
        return entry
    if (starred := _from_star(name, scope)) is not None:
        return starred
    if name in DEFAULT_IMPORTS:
        return Imported(DEFAULT_IMPORTS[name])
    return _of_python(name, scope, line) if name in BUILTIN_NAMES else None


def _of_python(name: str, scope: Scope, line: int) -> Entry | None:
    """Python's own function, as an assumption where a star import may bind its name; None where none does."""
    for current in scope.outwards():
        for bound in current.bindings.get(STAR, ()):
            package = (getattr(bound.statement, "module", None) or "").split(".")[0]
            if package not in _PACKAGES_WITHOUT_BUILTINS and (bound.line < line or current is not scope):
                return assumed(itself(name), name, f"Python's own; line {bound.line} may bind it too")
    return None


def _resolved(name: str, first: Scope | None, inner: Scope, line: int) -> Entry | None:
    """What a scope, or one around it, binds `name` to for a use at `line` in the scope `inner`."""
    for current in () if first is None else first.outwards():
        # A class body is no scope for the functions inside it.
        visible = current is inner or not isinstance(current.node, ast.ClassDef)
        found = current.bindings.get(name) if visible else None
        if found:
            # In its own scope a name is what the last binding above made it; an outer scope is complete
            # by the time a function in it runs, but the nearest binding above is what a reader expects.
            above = [one for one in found if one.line < line or isinstance(one.statement, ast.arguments)]
            if above or current is not inner:
                return _one_of(name, above or found, current, inner, line)
    return None


def _one_of(name: str, found: list[Bound], scope: Scope, inner: Scope, line: int) -> Entry:
    """What the last of some statements of a scope binds a name to. Where that one may not have run, what TVM
    offers is preferred: `R = None` is for those who do not have it. What it is otherwise is an assumption.
    """
    last = found[-1]
    entry = _entry(name, last.statement, scope)
    if may_change(entry) and _is_changed(name, last, scope, line):
        return Unknown("changed while the file runs")
    if last.is_certain_at(line):
        return _unless_doubtful(entry, name, last, scope, inner, line, last)
    others = []
    since = None
    for bound in reversed(found[:-1]):
        others.append(_entry(name, bound.statement, scope))
        if is_of_tvm(others[-1]) and not is_of_tvm(entry):
            return others[-1]
        if bound.is_certain_at(line):
            since = bound
            break
    else:
        around = _resolved(name, scope.parent, inner, line)
        others += [] if around is None else [around]
    if all(is_same(entry, other) for other in others):
        return _unless_doubtful(entry, name, last, scope, inner, line, since)
    return assumed(entry, name, f"line {last.line}")


def _unless_doubtful(
    entry: Entry, name: str, bound: Bound, scope: Scope, inner: Scope, line: int, since: Bound | None
) -> Entry:
    """What a statement makes of a name, as an assumption where the rest of the file may make it another.
    `since` is the last statement that has bound it for sure, to the same.
    """
    if isinstance(entry, Unknown) or (is_of_tvm(entry) and not isinstance(bound.statement, ast.Assign)):
        return entry
    span = Span(scope.uses(), scope.node, bound, line, scope is inner)
    why = span.bound_again(scope.bindings[name])
    span = replace(span, bound=since)
    why = why or span.bound_elsewhere(name)
    if not isinstance(entry, Imported):
        why = why or span.bound_unseen()
    if may_change(entry):
        why = why or span.changed(name, lambda node: _imported_name(node, scope), is_flat(entry))
        why = why or _changed_behind(bound, scope, inner, bound, line, set())
    return entry if why is None else assumed(entry, name, f"line {bound.line}; {why}")


def _changed_behind(
    made: Bound, scope: Scope, inner: Scope, since: Bound, line: int, seen: set[ast.AST]
) -> str | None:
    """Why a value may be another one: another name has it as well (`made` takes it there), and changes it
    after the statement `since`.
    """
    value = getattr(made.statement, "value", None)
    if not isinstance(made.statement, ast.Assign | ast.AnnAssign) or made.statement in seen or value is None:
        return None
    seen.add(made.statement)
    dotted = partial(_imported_name, scope=scope)
    for node in ast.walk(value):
        where = _binding_scope(node.id, scope) if isinstance(node, ast.Name) else None
        if not isinstance(node, ast.Name) or where is None:
            continue
        found = where.bindings[node.id]
        last = ([one for one in found if one.line < made.line] or found)[-1]
        entry = _entry(node.id, last.statement, where)
        if may_change(entry) and scope.uses().is_named(node, dotted, is_flat(entry)):
            span = Span(scope.uses(), where.node, since, line, where is inner)
            why = span.changed(node.id, dotted, is_flat(entry))
            why = why or _changed_behind(last, where, inner, since, line, seen)
            if why is not None:
                return why
    return None


def _binding_scope(name: str, scope: Scope) -> Scope | None:
    return next((one for one in scope.outwards() if name in one.bindings), None)


def _imported_name(node: ast.expr, scope: Scope) -> str | None:
    """The canonical name of a function that statements of a scope, or of one around it, import."""
    parts = chain(node)
    where = None if parts is None else _binding_scope(parts[0], scope)
    if parts is None or where is None:
        return None
    statement = where.bindings[parts[0]][-1].statement
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return None
    entry = _entry(parts[0], statement, where)
    return canonical(".".join((entry.dotted, *parts[1]))) if isinstance(entry, Imported) else None


def _is_changed(name: str, bound: Bound, scope: Scope, line: int) -> bool:
    """Whether the scope's own statements change the value of a name in place before `line`."""
    return any(bound.line <= change.line < line for change in scope.changes.get(name, ()))


def _from_star(name: str, scope: Scope) -> Entry | None:
    """What a star import of a dialect binds a name to."""
    for current in scope.outwards():
        for bound in reversed(current.bindings.get(STAR, [])):
            if isinstance(bound.statement, ast.ImportFrom) and not bound.statement.level:
                dotted = canonical(f"{bound.statement.module}.{name}")
                if dotted.startswith(_DIALECTS) and offer(dotted) in (Offer.VALUE, Offer.NAMESPACE):
                    return Imported(dotted)
    return None


def _entry(name: str, node: ast.AST, scope: Scope) -> Entry:
    if (name, node) not in scope.known:
        scope.known[name, node] = Unknown("defined in terms of itself")
        scope.known[name, node] = _bound(name, node, scope)
    return scope.known[name, node]


def _bound(name: str, node: ast.AST, scope: Scope) -> Entry:
    match node:
        case ast.Import():
            return imported_module(name, node)
        case ast.ImportFrom():
            return imported_from(name, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            unit = scope.unit_of(node, scope)
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            return Sibling(unit) if unit is not None else Unknown(f"a {kind} of the file")
        case ast.Assign(targets=targets):
            target = next(one for one in targets if name in target_names(one))
            return _assigned(name, target, node.value, scope, node.lineno)
        case ast.AnnAssign(value=ast.expr() as value):
            return _assigned(name, node.target, value, scope, node.lineno)
        case ast.For() | ast.AsyncFor():
            return Unknown("a loop variable")
        case ast.arguments() if isinstance(scope.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return _taken(name, scope.node, scope)
        case ast.With() | ast.AsyncWith():
            return Unknown("the value of a context manager")
    return Unknown("changed while the file runs")


def _taken(name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Entry:
    """The value that a parameter of the enclosing function is taken to have."""
    around = scope.parent
    if around is None:
        return Unknown("a parameter")
    taken = taken_value(function, name, lambda node: _list_behind(node, around)) or _declared(name, around)
    if taken is None:
        return Unknown(f"a parameter of `{function.name}` without a default")
    entry = _assigned(name, ast.Name(name, ast.Store()), taken.node, around, function.lineno)
    assumption = f"{name} = {shortened(taken.node)} ({taken.source})"
    match entry:
        case Literal():
            return Literal(entry.value, assumption)
        case Computed():
            return Computed(entry.node, assumption)
        case Imported():
            return Imported(entry.dotted, assumption)
    return Unknown(f"a parameter of `{function.name}` whose {taken.source} cannot be read")


def _declared(name: str, scope: Scope) -> Taken | None:
    """The value of a test parameter that an enclosing scope declares."""
    for bound in reversed(scope.bindings.get(name, [])):
        return declared_value(bound.statement, name)
    return _declared(name, scope.parent) if scope.parent is not None else None


def _list_behind(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The list that a name is bound to in an enclosing scope; the node itself if it is not a name."""
    if not isinstance(node, ast.Name):
        return node
    where = _binding_scope(node.id, scope)
    statement = None if where is None else where.bindings[node.id][-1].statement
    return statement.value if isinstance(statement, ast.Assign) else None


def _assigned(name: str, target: ast.expr, value: ast.expr, scope: Scope, line: int) -> Entry:
    if isinstance(target, ast.Tuple | ast.List):
        elements = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        for index, element in enumerate(target.elts):
            if isinstance(element, ast.Name) and element.id == name and len(elements) == len(target.elts):
                return _assigned(name, element, elements[index], scope, line)
        return Unknown("unpacked from an unknown value")
    if isinstance(value, ast.IfExp | ast.BoolOp):
        choices = [value.body, value.orelse] if isinstance(value, ast.IfExp) else value.values
        for choice in choices:
            if (dotted := dotted_name(choice, scope, line)) and is_of_tvm(Imported(dotted)):
                return Imported(dotted)
    if (module := module_of(value)) is not None:
        return Imported(module)
    names = environment(value, scope, line)
    plain = {key: entry.value for key, entry in names.items() if isinstance(entry, Literal)}
    taken = [
        e.assumption for e in names.values() if isinstance(e, Literal | Computed | Imported) and e.assumption
    ]
    assumption = "; ".join(dict.fromkeys(taken)) or None
    try:
        found = literal_value(value, plain, {key for key, e in names.items() if not is_itself(key, e)})
        if weight(found) > _MAX_WEIGHT:
            raise TooLargeError
        return Literal(found, assumption)
    except TooLargeError:
        return Unknown("too large a number to compute")
    except NotLiteralError:
        pass
    if isinstance(value, ast.Name | ast.Attribute) and (dotted := dotted_name(value, scope, line)):
        return Imported(dotted)
    if isinstance(value, ast.Name) and isinstance(names.get(value.id), Sibling):
        return names[value.id]
    if all(isinstance(entry, Imported | Literal | Computed) for entry in names.values()):
        weights = sum(weight(v) for v in plain.values())
        weights += sum(len(list(ast.walk(e.node))) for e in names.values() if isinstance(e, Computed))
        if weights > _MAX_NODES:
            return Unknown("too long a computation")
        return Computed(standing_alone(value, names), assumption)
    return Unknown(f"computed by `{shortened(value)}`")


def free_names(node: ast.AST) -> set[str]:
    """Names that a tree mentions, also in strings (symbolic shapes), and binds nowhere itself."""
    mentioned: set[str] = set()
    bound: set[str] = set()
    for child in ast.walk(node):
        match child:
            case ast.Name(id=name, ctx=context):
                (bound if isinstance(context, ast.Store) else mentioned).add(name)
            case ast.Constant(value=str() as text):
                mentioned |= names_in(text)
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
                bound |= declared_by(child).keys()
    return mentioned - bound


def environment(node: ast.AST, scope: Scope, line: int) -> dict[str, Entry]:
    """The entries of the enclosing scopes for every name that `node` mentions and does not bind itself."""
    entries: dict[str, Entry] = {}
    for name in sorted(free_names(node)):
        entry = resolve(name, scope, line)
        if entry is not None:
            entries[name] = _unless_hiding(entry, name, scope)
    return entries


def _unless_hiding(entry: Entry, name: str, scope: Scope) -> Entry:
    """An entry, as an assumption where TVM may see another value: it looks for a name that stands in
    annotations only, and for one of a class, among those of the file.
    """
    binding = _binding_scope(name, scope)
    if binding is None or binding.parent is None or getattr(entry, "assumption", None) is not None:
        return entry
    if any(isinstance(one.statement, ast.arguments) for one in binding.bindings[name]):
        return entry
    *_, file = binding.outwards()
    others = file.bindings.get(name, [])
    if not others or is_same(entry, _entry(name, others[-1].statement, file)):
        return entry
    return assumed(entry, name, f"line {others[-1].line} binds it in the file")
