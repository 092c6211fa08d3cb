"""From a unit to an IRModule, through the gate and TVM's parser. Importing this module imports TVM."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import tvm

from relax_lint.results.problem import Problem
from relax_lint.sources.compiled_kernels import NOTE, with_kernels_called
from relax_lint.sources.dialects import ALWAYS, PRINTED, PURITY, RULES, described, rewritten
from relax_lint.sources.dialects.declared import declaration, is_needed
from relax_lint.sources.dialects.rule import Rule
from relax_lint.sources.endless import with_an_end
from relax_lint.sources.evaluation import evaluate_plainly
from relax_lint.sources.facade import (
    BUILTINS,
    ROOTS,
    OmittedConstants,
    lookup,
    tensor_field,
)
from relax_lint.sources.gate import check_expression, check_unit
from relax_lint.sources.names import DEFAULT_IMPORTS, TENSOR_FIELD, canonical
from relax_lint.sources.parser_run import UnreadError, refused, run_parser
from relax_lint.sources.positions import TextPositions
from relax_lint.sources.reasons import reason
from relax_lint.sources.refusal import RefusedError
from relax_lint.sources.saved import load_constants
from relax_lint.sources.unit import (
    Computed,
    Entry,
    Imported,
    Literal,
    ParsedUnit,
    Script,
    Sibling,
    Unit,
    Unknown,
)
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import versions

_TYPE_VARIABLE = "typing.TypeVar"
# Printed modules carry their imports as comments.
_PRINTED = "# from tvm.script import "
# What only a file from before TVM 0.26 says: then its functions did not have to say that they are impure.
_OLD_FILE = re.compile(
    r"\b(?:sinfo_args|out_sinfo)=|\bstruct_info\b|\bT\.block\(|\bR\.Object\b|\bT\.Buffer\["
)
_OLD_TYPES = "sinfo_args"


@record(frozen=True)
class _Reading:
    """One way to read a unit: the tree that goes to the parser, the rules that made it, what they assumed."""

    node: ast.ClassDef | ast.FunctionDef
    rules: tuple[Rule, ...] = ()
    assumptions: tuple[str, ...] = ()


def parse_unit(unit: Unit, dialect: str = "auto") -> ParsedUnit | Problem:
    """The module of a unit, or why there is none: RLX901 (TVM refuses it), RLX902 (it depends on a value that
    is not known) or RLX903 (it is not TVMScript). Nothing but TVM's parser is executed, and that only on what
    the gate let through.

    `dialect` is `auto` (as it stands, and rewritten where that fails), `current` (as it stands) or `old`
    (rewritten at once).
    """
    try:
        return read_whole(unit, dialect)
    except UnreadError as error:
        return error.problem


def read_whole(unit: Unit, dialect: str) -> ParsedUnit:
    """The same, but raises UnreadError where there is no module."""
    readable = with_kernels_called(unit, imports_of(unit))
    refusal = check_unit(readable)
    if refusal is not None:
        raise UnreadError(refused(unit, refusal), refusal.node, is_unknown=refusal.unknown)
    parsed = _in_some_dialect(readable, dialect)
    return parsed if readable is unit else replace(parsed, notes=(*parsed.notes, NOTE), script=None)


def _in_some_dialect(unit: Unit, dialect: str) -> ParsedUnit:
    first = None
    if dialect == "auto" and (printed := _printed(unit)) is not None:
        return printed
    if dialect == "current" or (dialect == "auto" and not _is_misread(unit)):
        try:
            first = _parse(unit, _as_it_stands(unit))
            if dialect == "current" or first.ill_formed is None:
                return first
        except UnreadError:
            if dialect == "current":
                raise
    attempt = _rewritten(unit)
    if not attempt.rules and not _OLD_FILE.search(unit.text.content):
        return first or _parse(unit, attempt)
    try:
        second = first if first is not None and not attempt.rules else _parse(unit, attempt)
    except UnreadError:
        if first is not None:
            return first
        raise
    if second.ill_formed and "mpure" in second.ill_formed:
        tree, more, _ = rewritten(attempt.node, imports_of(unit), [PURITY])
        second = _parse(unit, _Reading(tree, (*attempt.rules, *more), attempt.assumptions))
    return first if first is not None and second.ill_formed else second


def _printed(unit: Unit) -> ParsedUnit | None:
    """What TVM of today printed and does not read as it stands; None for any other text. First of all, as the
    parser would go through most of a long module before it refuses it.
    """
    if _PRINTED not in unit.text.content:
        return None
    attempt = _rewritten(unit, PRINTED)
    if not attempt.rules:
        return None
    try:
        parsed = _parse(unit, attempt)
    except UnreadError:
        return None
    return parsed if parsed.ill_formed is None else None


def _is_misread(unit: Unit) -> bool:
    """Whether an old unit could be taken for a new one: TVM makes attributes of unknown keywords of a packed
    call, so that the type of its result would be lost.
    """
    if _OLD_TYPES not in unit.text.content:
        return False
    return any(isinstance(node, ast.keyword) and node.arg == _OLD_TYPES for node in ast.walk(unit.node))


def _rewritten(unit: Unit, rules: Sequence[Rule] = RULES) -> _Reading:
    known = frozenset(unit.environment) | frozenset(BUILTINS)
    printed = _PRINTED in unit.text.content
    symbols = _declared_symbols(unit)
    tree, found, assumed = rewritten(
        unit.node, imports_of(unit), rules, symbols, known=known, printed=printed
    )
    return _Reading(tree, tuple(found), assumed)


def _as_it_stands(unit: Unit) -> _Reading:
    """The tree of the text, with the symbols that are declared in front of functions written out."""
    found = _declared_symbols(unit)
    if not found and not is_needed(unit.node):
        return _Reading(unit.node)
    return _Reading(rewritten(unit.node, imports_of(unit), ALWAYS, found)[0])


def _declared_symbols(unit: Unit) -> dict[str, str]:
    """The names of the file that stand for symbols, with the element type of each."""
    found = {name: _symbol_type(entry) for name, entry in unit.environment.items()}
    return {name: dtype for name, dtype in found.items() if dtype is not None}


def _symbol_type(entry: Entry) -> str | None:
    match entry:
        case Computed(node=ast.Call(func=func) as call):
            dotted = canonical(ast.unparse(func))
            # TVM reads type variables itself, from 0.27 on.
            if dotted == _TYPE_VARIABLE and not versions.PARSES_TYPE_PARAMETERS:
                return "int64"
            return declaration(call, dotted)
    return None


def _parse(unit: Unit, attempt: _Reading) -> ParsedUnit:
    parser, result = run_parser(unit, attempt.node, _names(unit, {}))
    if unit.kind != "module":
        result = _as_module(result, unit.name)
    positions = TextPositions(unit.text, attempt.node, result, parser.recording, imports_of(unit))
    return ParsedUnit(
        module_name=unit.name if unit.kind == "module" else None,
        ir_module=result,
        positions=positions,
        assumptions=(*unit.assumptions, *_assumptions(unit), *attempt.assumptions),
        notes=(described(attempt.rules),) if attempt.rules else (),
        ill_formed=_ill_formed(result) if unit.check_well_formed else None,
        script=Script(unit, positions, bool(attempt.rules)) if unit.text.origins is None else None,
    )


def imports_of(unit: Unit) -> dict[str, str]:
    """The names of a unit that stand for imports, with what each imports."""
    return {name: entry.dotted for name, entry in _entries(unit).items() if isinstance(entry, Imported)}


def _entries(unit: Unit) -> Mapping[str, Entry]:
    defaults: dict[str, Entry] = {name: Imported(dotted) for name, dotted in DEFAULT_IMPORTS.items()}
    return {**defaults, **unit.environment}


def _as_module(function: Any, name: str) -> Any:
    symbol = function.attrs["global_symbol"] if function.attrs and "global_symbol" in function.attrs else name
    return tvm.IRModule({tvm.ir.GlobalVar(str(symbol)): function})


def _names(unit: Unit, siblings: dict[ast.AST, Any]) -> dict[str, Any]:
    """The values of the environment; `siblings` keeps the definitions that were parsed for other names."""
    names: dict[str, Any] = {}
    for name, entry in _entries(unit).items():
        try:
            value = _value(entry, siblings)
        except (AttributeError, RefusedError):
            # Not on offer: only a text that uses the name has to hear about it.
            continue
        if value is not _ABSENT:
            names[name] = value
    names[TENSOR_FIELD] = tensor_field
    names.setdefault("metadata", OmittedConstants())
    return names


_ABSENT = object()


def _value(entry: Entry, siblings: dict[ast.AST, Any]) -> Any:
    match entry:
        case Imported():
            return lookup(entry.dotted)
        case Literal():
            return entry.value
        case Computed():
            return _computed(entry)
        case Sibling():
            if entry.unit.node not in siblings:
                siblings[entry.unit.node] = _sibling(entry.unit, siblings)
            return siblings[entry.unit.node]
    return _ABSENT


def _computed(entry: Computed) -> Any:
    match entry.node:
        case ast.Call(func=ast.Attribute() as func, args=[ast.Constant(value=str(text))], keywords=[]):
            if ast.unparse(func) == "tvm.ir.load_json":
                return _loaded(text)
    if check_expression(entry.node, {name: Imported(name) for name in ROOTS}) is not None:
        return _ABSENT
    try:
        with with_an_end():
            return evaluate_plainly(entry.node, ROOTS)
    except Exception:
        return _ABSENT


def _loaded(text: str) -> Any:
    try:
        return load_constants(text)
    except Exception:
        return _ABSENT


def _sibling(unit: Unit, siblings: dict[ast.AST, Any]) -> Any:
    if check_unit(unit) is not None:
        return _ABSENT
    names = _names(unit, siblings)
    try:
        return run_parser(unit, _as_it_stands(unit).node, names)[1]
    except UnreadError:
        pass
    try:
        return run_parser(unit, _rewritten(unit).node, names)[1]
    except UnreadError:
        return _ABSENT


def _assumptions(unit: Unit) -> tuple[str, ...]:
    """What was assumed to read a unit and the definitions that it names."""
    found: dict[str, None] = {}
    units = [unit]
    for one in units:
        for entry in one.environment.values():
            if not isinstance(entry, Unknown) and entry.assumption:
                found[entry.assumption] = None
            if isinstance(entry, Sibling) and all(entry.unit is not known for known in units):
                units.append(entry.unit)
    return tuple(found)


def _ill_formed(module: Any) -> str | None:
    found = versions.ill_formed(module)
    return None if found is None else reason(found)
