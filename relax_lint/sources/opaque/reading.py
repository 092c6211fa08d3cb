"""Reading a unit whatever is in it: what cannot be read becomes opaque, and the rest is a module."""

from __future__ import annotations

import ast
import copy
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from relax_lint.results.problem import Problem
from relax_lint.sources.dialects.rule import Context
from relax_lint.sources.gate import is_python_function
from relax_lint.sources.opaque.doubtful import doubtful_mentions
from relax_lint.sources.opaque.mentions import called_in_python, unread_mentions
from relax_lint.sources.opaque.places import Place, functions_of, place_of
from relax_lint.sources.opaque.statements import Skip, Tree
from relax_lint.sources.parser_run import UnreadError
from relax_lint.sources.parsing import imports_of, read_whole
from relax_lint.sources.unit import ParsedUnit, Skipped, Unit
from relax_lint.vm import versions

# Each takes one more parse.
_MOST = 60
# What TVM says of a device that the module does not declare, or not any more.
_ABOUT_INFOS = re.compile(r"GlobalInfo|[vV][dD]evice")


def read_unit(unit: Unit, dialect: str = "auto") -> ParsedUnit | Problem:
    """The module of a unit. What cannot be read is `skipped`; it is a Problem where nothing is left to judge.

    Each tree passes the gate and TVM's parser as the unit's own does.
    """
    try:
        parsed = read_whole(unit, dialect)
    except UnreadError as error:
        first = error
    else:
        called = _called_in_python(unit)
        return replace(parsed, called_unseen=called) if called else parsed
    return _Reading(unit, dialect).without(first) or first.problem


@dataclass
class _Reading:
    """The attempts to read one unit."""

    unit: Unit
    dialect: str
    skipped: list[Skipped] = field(default_factory=list)

    def without(self, error: UnreadError) -> ParsedUnit | None:
        """What is left without what cannot be read; None if nothing can be taken out or nothing is left."""
        node = copy.deepcopy(self.unit.node)
        tree = Tree(Context(imports_of(self.unit), node))
        for _ in range(_MOST):
            if not self._skip(tree, error):
                return None
            unit = replace(self.unit, node=node)
            try:
                return self._result(tree, read_whole(unit, self.dialect))
            except UnreadError as another:
                error = another
        return None

    def _skip(self, tree: Tree, error: UnreadError) -> bool:
        """Take what an error is about out of the tree, everywhere where the text says the same."""
        at = place_of(error.node)
        if at is None or error.node is self.unit.node:
            return False
        name = _name(tree.root, at)
        first = tree.skip(at, name)
        if first is None:
            return False
        self._note(error, first)
        if error.is_unknown:
            for place in _same(tree.root, at, self.unit.node):
                again = tree.skip(place, name)
                if again is not None and again.function != first.function:
                    self._note(error, again)
        return True

    def _note(self, error: UnreadError, skip: Skip) -> None:
        message = error.problem.message
        infos_gone = any(one.function is None for one in self.skipped)
        # What misses a function that is not Python, or a device that is not known, is not another mistake.
        follows = skip.follows or self.unit.is_damaged
        follows = follows or (infos_gone and _ABOUT_INFOS.search(message) is not None)
        follows = follows and not error.is_unknown
        problem = None if error.is_unknown or follows else error.problem
        self.skipped.append(Skipped(message, error.problem.location, skip.function, problem, follows))

    def _result(self, tree: Tree, parsed: ParsedUnit) -> ParsedUnit | None:
        functions = dict(versions.relax_functions(parsed.ir_module))
        if not functions:
            return None
        called = unread_mentions(self.unit.node, tree.root)
        return replace(
            parsed,
            # The calls that stand for what is not read are impure, wherever they stand.
            ill_formed=None,
            script=None,
            skipped=tuple(self.skipped),
            depends=self._depends(tree, functions, called),
            called_unseen=_called_in_python(self.unit) | called.keys(),
        )

    def _depends(
        self, tree: Tree, functions: Mapping[str, Any], called: Mapping[str, Collection[str | None]]
    ) -> Mapping[str, tuple[str, ...]]:
        if self.unit.kind != "module":
            texts = tuple(dict.fromkeys(one.text for one in self.skipped))
            return dict.fromkeys(functions, texts)
        private = {name for name, node in functions.items() if versions.is_private(node)}
        doubtful = doubtful_mentions(tree.root)
        places = {
            name: {*called.get(name, ()), *doubtful.get(name, ())}
            for name in private & {*called.keys(), *doubtful.keys()}
        }
        return _dependent(tree, self.skipped, places, private)


def _name(root: ast.AST, at: Place) -> str | None:
    """The name that stands at a place."""
    for node in ast.walk(root):
        if isinstance(node, ast.Name) and place_of(node) == at:
            return node.id
    return None


def _same(root: ast.ClassDef | ast.FunctionDef, at: Place, original: ast.AST) -> list[Place]:
    """The other places of Relax functions where the text says what it says at a place: a name or a member."""
    said = [n for n in ast.walk(original) if isinstance(n, ast.Name | ast.Attribute) and place_of(n) == at]
    if not said:
        return []
    wanted = ast.unparse(said[0])
    found = []
    for function in functions_of(root):
        for node in ast.walk(function):
            if isinstance(node, type(said[0])) and ast.unparse(node) == wanted:
                place = place_of(node)
                if place is not None and place != at:
                    found.append(place)
    return found


def _dependent(
    tree: Tree,
    skipped: Iterable[Skipped],
    called: Mapping[str, Collection[str | None]],
    private: Collection[str],
) -> Mapping[str, tuple[str, ...]]:
    """The functions whose verdicts depend on what was skipped, with what that is: those that it was in, those
    that mention one of them and, of the private ones, those that are `called` there, or depending on what was
    skipped there, and what they call.
    """
    base = defaultdict[str, set[str]](set)
    names = [function.name for function in functions_of(tree.root)]
    for one in skipped:
        for name in names if one.function is None else (one.function,):
            base[name].add(one.text)
    mentioned = {f.name: _mentioned(f) & {*names, *base} - {f.name} for f in functions_of(tree.root)}
    callers = defaultdict[str, set[str]](set)
    for name, others in mentioned.items():
        for other in others:
            callers[other].add(name)
    found = _spread(base, callers)
    of_module = {one.text for one in skipped if one.function is None}
    given = {
        name: set[str]().union(*(of_module if place is None else base[place] for place in places))
        for name, places in called.items()
    }
    callees = {name: others & set(private) for name, others in mentioned.items() if name in private}
    for name, texts in _spread(given, callees).items():
        found.setdefault(name, set()).update(texts)
    # In the order of the text, whatever that of a set is.
    order = tuple(dict.fromkeys(one.text for one in skipped))
    return {name: tuple(text for text in order if text in texts) for name, texts in found.items()}


def _spread(texts: Mapping[str, set[str]], to: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """What is said of functions, said of all others that lead from one `to` another as well."""
    found = {name: set(own) for name, own in texts.items()}
    pending = list(found)
    while pending:
        name = pending.pop()
        for other in to.get(name, ()):
            more = found[name] - found.get(other, set())
            if more:
                found.setdefault(other, set()).update(more)
                pending.append(other)
    return found


def _called_in_python(unit: Unit) -> frozenset[str]:
    """The functions of a module that its functions in Python may call."""
    if not isinstance(unit.node, ast.ClassDef):
        return frozenset()
    functions = [one for one in functions_of(unit.node) if is_python_function(one, unit)]
    return frozenset(name for one in functions for name in called_in_python(unit.node, one))


def _mentioned(function: ast.FunctionDef) -> set[str]:
    names = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    # What is not read is called by the name that the text has for it.
    for node in ast.walk(function):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value.rpartition(".")[2])
    return names
