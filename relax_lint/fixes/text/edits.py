"""Changes made in the text of a file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import sympy

from relax_lint.fixes.changes import (
    Applicability,
    Change,
    InsertAssert,
    MoveKill,
    Remedy,
    Remove,
    RenameBound,
    ResizeStorage,
)
from relax_lint.fixes.module.rewriting import called_functions
from relax_lint.fixes.text.bound_names import bindings_by_name
from relax_lint.fixes.text.editing import NotEditableError, UnitText
from relax_lint.fixes.text.namespaces import Namespaces, declared_in_strings, is_tir_call
from relax_lint.fixes.text.purity import attributes, impurity, is_attribute_call
from relax_lint.fixes.text.tvmscript import NotWritableError, check_call, script_expr
from relax_lint.model.operations import Assert, Op, OperationId
from relax_lint.model.program import Function
from relax_lint.results.check import Edit, Fix
from relax_lint.sources.names import DEFAULT_IMPORTS, TIR, canonical
from relax_lint.sources.unit import Imported, Script


def display(remedy: Remedy) -> Fix:
    """A remedy that has no text to edit."""
    return Fix(remedy.title, Applicability.DISPLAY.value, ())


class TextFixer:
    """Makes edits of the remedies for one unit; `assumed` says that values were assumed to read it."""

    def __init__(self, script: Script, module: Any, *, assumed: bool = False) -> None:
        self._script = script
        self._assumed = assumed
        self._module = module
        entries = {name: Imported(dotted) for name, dotted in DEFAULT_IMPORTS.items()} | {
            name: entry for name, entry in script.unit.environment.items() if isinstance(entry, Imported)
        }
        self._bound: dict[ast.FunctionDef, dict[str, list[ast.stmt]]] = {}
        self._operations: dict[str, dict[int, Op]] = {}
        self._tir_names = frozenset(name for name, entry in entries.items() if canonical(entry.dotted) == TIR)

    @cached_property
    def _text(self) -> UnitText:
        return UnitText(self._script.unit)

    @cached_property
    def _called(self) -> frozenset[str]:
        return called_functions(self._module)

    def _is_called(self, name: str) -> bool:
        """Whether other functions of the module refer to this one."""
        return name in self._called

    @cached_property
    def _namespaces(self) -> Namespaces:
        return Namespaces(self._text, is_old=self._script.is_old)

    def fix(self, function: Function, remedy: Remedy) -> Fix:
        """The edits for a remedy; none, and only to be displayed, where the text leaves no place for them."""
        if remedy.applicability is Applicability.DISPLAY:
            return display(remedy)
        try:
            edits = [edit for change in remedy.changes for edit in self._edits(function, change)]
        except (NotEditableError, NotWritableError):
            return display(remedy)
        applicability = self._applicability(remedy)
        return Fix(remedy.title, applicability.value, tuple(dict.fromkeys(edits)), int(remedy.turn))

    def _applicability(self, remedy: Remedy) -> Applicability:
        """What depends on numbers is right for the values that were assumed to read the text, and may be
        wrong for others that it is run with.
        """
        if self._assumed and any(_depends_on_numbers(change) for change in remedy.changes):
            return Applicability.UNSAFE
        return remedy.applicability

    def _edits(self, function: Function, change: Change) -> Iterable[Edit]:
        if isinstance(change, InsertAssert):
            return self._assert(function, change)
        if isinstance(change, ResizeStorage):
            return self._resized(function, change)
        if isinstance(change, Remove):
            return (self._text.delete(self._statement(change.op)),)
        if isinstance(change, MoveKill):
            return self._moved(change)
        return (self._renamed(function, change),)

    # -- one kind of change each ---------------------------------------------------------------

    def _assert(self, function: Function, change: InsertAssert) -> Iterator[Edit]:
        definition = self._definition(function)
        relax = self._namespaces.relax(definition)
        code, imports = self._with_tir(
            definition, lambda tir: check_call(change, relax, tir, is_old=self._script.is_old)
        )
        yield from imports
        if not self._script.is_old or "pure" in self._script.unit.text.content:
            yield from impurity(self._text, definition, function.node, self._is_called, relax)
        if change.before is None:
            yield self._at_entry(definition, code, self._names(function, change.symbols, definition, None))
            return
        statement = self._start(function, change.before)
        self._names(function, change.symbols, definition, statement)
        yield self._text.insert_before(statement, code)

    def _resized(self, function: Function, change: ResizeStorage) -> Iterator[Edit]:
        place = change.storage.place
        node = self._script.origins.expression(place.var, place.node)
        if not isinstance(node, ast.Call):
            raise NotEditableError("the allocation is not written as a call")
        call = self._text.original(node)
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "alloc_storage" or not call.args:
            raise NotEditableError("the allocation is written in another way")
        definition, statement = self._definition(function), self._statement(change.storage, whole=False)
        self._names(function, tuple(change.extent.free_symbols), definition, statement)
        text, imports = self._with_tir(definition, lambda tir: script_expr(change.extent, tir))
        yield from imports
        yield self._size(call.args[0], text, definition)

    def _with_tir(
        self, definition: ast.FunctionDef, write: Callable[[str], str]
    ) -> tuple[str, tuple[Edit, ...]]:
        """What `write` makes of the name of TIR's namespace, and the edits after which the name is known, if
        it uses it at all.
        """
        plain = write("")
        if plain == write("T"):
            return plain, ()
        alias = self._namespaces.tir(definition)
        return write(alias.name), alias.edits

    def _size(self, size: ast.expr, text: str, definition: ast.FunctionDef) -> Edit:
        match size:
            case ast.Call(func=ast.Attribute(attr="shape"), args=[ast.List() | ast.Tuple() as shape]):
                if len(shape.elts) == 1:
                    return self._text.replace(shape.elts[0], text)
                return self._text.replace(shape, f"[{text}]")
        relax = self._namespaces.relax(definition)
        return self._text.replace(size, f"{relax}.shape([{text}])")

    def _moved(self, change: MoveKill) -> Iterator[Edit]:
        statement, after = self._statement(change.kill), self._statement(change.after, whole=False)
        if statement.lineno != statement.end_lineno:
            raise NotEditableError("the kill spans several lines")
        yield self._text.delete(statement)
        # With the comment behind it, which goes with the line.
        yield self._text.insert_after(after, self._text.source(statement) + self._text.behind(statement))

    def _renamed(self, function: Function, change: RenameBound) -> Edit:
        written = attributes(self._definition(function))
        for key, value in zip(written.keys, written.values, strict=True) if written is not None else ():
            if not isinstance(key, ast.Constant) or key.value != change.kind.value:
                continue
            names: Sequence[ast.expr | None] = ()
            if isinstance(value, ast.Dict):
                names = value.keys
            elif isinstance(value, ast.List | ast.Tuple):
                names = value.elts
            for name in names:
                if isinstance(name, ast.Constant) and name.value == change.old:
                    quoted = self._text.source(name)
                    return self._text.replace(name, quoted.replace(change.old, change.new))
        raise NotEditableError("the name is not written in the attributes of the function")

    # -- places --------------------------------------------------------------------------------

    def _definition(self, function: Function) -> ast.FunctionDef:
        found = self._script.origins.definition(function.name)
        if found is None:
            raise NotEditableError("the function is nested in another one")
        return self._text.original(found)

    def _statement(self, op: Op, *, whole: bool = True) -> ast.stmt:
        """The statement of an operation; where it has to be the `whole` of it, that alone."""
        found = self._script.origins.statement(op.place.var)
        if found is None or (whole and not found[1]):
            raise NotEditableError("it is only part of a statement")
        return self._text.original(found[0])

    def _start(self, function: Function, place: OperationId) -> ast.stmt:
        """The statement before which the check of an operation is inserted."""
        statement = self._place(place)
        if function.name not in self._operations:
            self._operations[function.name] = {op.place.index: op for op in function.body.walk()}
        before = self._operations[function.name].get(place.index - 1)
        if before is not None and self._place(before.place) is statement:
            raise NotEditableError("the symbol is defined in the same statement")
        for outer in self._text.enclosing(statement):
            if isinstance(outer, ast.With):
                raise NotEditableError("a dataflow block cannot contain a check")
        return statement

    def _place(self, place: OperationId) -> ast.stmt:
        found = self._script.origins.statement(place.var)
        if found is None:
            raise NotEditableError("the location of the operation is unknown")
        return self._text.original(found[0])

    def _at_entry(self, definition: ast.FunctionDef, code: str, declared: int) -> Edit:
        """A line after the initial declarations of a function; `declared` is the last line that has
        to be before it.
        """
        first = next((s for s in definition.body if not self._is_declaration(s)), definition.body[-1])
        if first.lineno <= declared:
            raise NotEditableError("the symbols are declared further down")
        return self._text.insert_before(first, code)

    def _is_declaration(self, statement: ast.stmt) -> bool:
        """Whether a statement is a docstring, an attribute or the declaration of a symbol."""
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                return True
            case ast.Assign(value=value):
                return is_tir_call(value, self._tir_names)
            case ast.AnnAssign(value=ast.expr() as value):
                return is_tir_call(value, self._tir_names)
        return is_attribute_call(statement)

    # -- names ---------------------------------------------------------------------------------

    def _names(
        self,
        function: Function,
        symbols: Sequence[sympy.Symbol],
        definition: ast.FunctionDef,
        before: ast.stmt | None,
    ) -> int:
        """Make sure that the text knows the symbols by their names, before a statement where one is given;
        the last line on which it comes to know one. Raises NotEditableError.
        """
        known = {info.symbol: str(info.var.name) for info in function.symbols if info.var is not None}
        last = 0
        for symbol in symbols:
            name = symbol.name
            if known.get(symbol) != name or list(known.values()).count(name) > 1:
                raise NotEditableError(f"there is more than one `{name}`")
            bindings = self._bindings(definition, name)
            if name not in _signature_names(definition):
                if not bindings:
                    raise NotEditableError(f"`{name}` has no name in the text")
                last = max(last, bindings[0].end_lineno or bindings[0].lineno)
                bindings = bindings[1:]
            if not all(self._is_declaration(binding) for binding in bindings):
                raise NotEditableError(f"`{name}` is rebound")
        if before is not None and last >= before.lineno:
            raise NotEditableError("the symbols are declared further down")
        return last

    def _bindings(self, definition: ast.FunctionDef, name: str) -> list[ast.stmt]:
        """The statements that bind a name, in the order of the text."""
        if definition not in self._bound:
            self._bound[definition] = bindings_by_name(definition, self._text.lines_of(definition))
        return self._bound[definition].get(name, [])


def _depends_on_numbers(change: Change) -> bool:
    """Whether another value of a name in the text may call for another change."""
    return isinstance(change, InsertAssert | ResizeStorage) or (
        isinstance(change, Remove) and isinstance(change.op, Assert)
    )


@lru_cache(maxsize=64)
def _signature_names(definition: ast.FunctionDef) -> frozenset[str]:
    """The names that a function's parameters bring into its body."""
    found = {argument.arg for argument in definition.args.args} | declared_in_strings(definition)
    for argument in definition.args.args:
        for node in ast.walk(argument.annotation) if argument.annotation is not None else ():
            if isinstance(node, ast.Name):
                found.add(node.id)
    return frozenset(found)
