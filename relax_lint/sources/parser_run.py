"""TVM's parser over one tree of a unit, and what is said of what it refuses. Importing this imports TVM."""

from __future__ import annotations

import ast
import copy
import re
import warnings
from collections.abc import Mapping
from typing import Any

from tvm.script.ir_builder import IRBuilder

from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.sources.doc_tree import to_doc
from relax_lint.sources.facade import UnknownValueError
from relax_lint.sources.gate import is_metadata_mark, is_python_function
from relax_lint.sources.names import chain
from relax_lint.sources.reasons import reason, without_addresses
from relax_lint.sources.recorder import ParseFailure, RecordingParser, TreeSource, watching
from relax_lint.sources.refusal import Refusal, RefusedError
from relax_lint.sources.unit import Computed, Entry, Imported, Sibling, Unit, Unknown

_UNDEFINED = "Undefined variable: "
# What TVM says of what another release, or another build of it, may well know.
_NEWER = re.compile(
    r"^(?:TVMScript|TVM) has no name `|unexpected keyword argument|[Tt]arget kind .* is not|"
    r"Operator .* is not registered|is not a registered|Cannot find|Unknown target|not registered"
)


class UnreadError(Exception):
    """A unit cannot be read: the problem, and the node of its tree that is the reason. `is_unknown` says that
    nothing is wrong with the text but that the value of that node is not known.
    """

    def __init__(self, problem: Problem, node: Any = None, *, is_unknown: bool = False) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.node = node
        self.is_unknown = is_unknown


def refused(unit: Unit, refusal: Refusal) -> Problem:
    """The finding for something that the gate did not let through."""
    if refusal.unknown:
        return Problem(
            ProblemKind.UNRESOLVED_NAME, refusal.reason, unit.text.location(refusal.node), unit.name
        )
    return Problem(
        ProblemKind.UNSAFE_SOURCE,
        f"{refusal.reason} is not TVMScript: the parser would execute it",
        unit.text.location(refusal.node),
        unit.name,
    )


def run_parser(
    unit: Unit, node: ast.ClassDef | ast.FunctionDef, names: Mapping[str, Any]
) -> tuple[RecordingParser, Any]:
    """TVM's parser over a tree of the unit, with the values of its names: the parser, and what it made.

    Raises UnreadError where TVM refuses the tree or may not read it.
    """
    try:
        tree = to_doc(ast.Module([_stripped(node, unit)], []))
        parser = RecordingParser(TreeSource(unit.text.path, unit.text.content, tree))
        with warnings.catch_warnings(), watching(parser), IRBuilder() as builder:
            warnings.simplefilter("ignore")
            parser.parse(extra_vars=dict(names))
            return parser, builder.get()
    except MemoryError:
        raise
    except ParseFailure as failure:
        if isinstance(failure.cause, MemoryError):
            raise failure.cause from None
        raise _failed(unit, failure) from failure
    except RefusedError as error:
        raise UnreadError(refused(unit, Refusal(unit.node, without_addresses(str(error))))) from error
    except RecursionError as error:
        raise UnreadError(_problem(unit, "nested too deeply for TVM's parser")) from error
    except (Exception, SystemExit) as error:
        raise UnreadError(_problem(unit, reason(str(error) or type(error).__name__))) from error


def _stripped(node: ast.ClassDef | ast.FunctionDef, unit: Unit) -> ast.stmt:
    """The tree without what TVM does not evaluate and the gate did not look at."""
    if isinstance(node, ast.FunctionDef):
        return _stripped_function(node, unit)
    result = copy.copy(node)
    result.decorator_list = []
    result.bases = [base for base in node.bases if chain(base) is not None]
    body = [s for s in node.body if not is_metadata_mark(s) and not isinstance(s, ast.Pass)]
    result.body = [_stripped_function(s, unit) if isinstance(s, ast.FunctionDef) else s for s in body]
    return result


def _stripped_function(statement: ast.FunctionDef, unit: Unit) -> ast.FunctionDef:
    result = copy.copy(statement)
    result.decorator_list = result.decorator_list[-1:]
    if is_python_function(statement, unit):
        result.body = [ast.copy_location(ast.Pass(), statement)]
    return result


def _problem(unit: Unit, message: str, node: Any = None) -> Problem:
    return Problem(
        ProblemKind.PARSE_ERROR,
        message,
        unit.text.location(node if node is not None else unit.node),
        unit.name,
    )


def _failed(unit: Unit, failure: ParseFailure) -> UnreadError:
    node = failure.node if getattr(failure.node, "lineno", 0) else unit.node
    location = unit.text.location(node)
    if isinstance(failure.cause, UnknownValueError):
        problem = Problem(ProblemKind.UNRESOLVED_NAME, failure.message, location, unit.name)
        return UnreadError(problem, node, is_unknown=True)
    if isinstance(failure.cause, RefusedError):
        message = f"{failure.message}: the parser may not execute this"
        return UnreadError(Problem(ProblemKind.UNSAFE_SOURCE, message, location, unit.name), node)
    text = failure.message.strip()
    if text.startswith(_UNDEFINED):
        name = text[len(_UNDEFINED) :].strip()
        entry = unit.environment.get(name)
        message = f"the value of `{name}` is unknown{_why_unknown(entry)}"
        problem = Problem(ProblemKind.UNRESOLVED_NAME, message, location, unit.name)
        return UnreadError(problem, node, is_unknown=entry is not None)
    shown = reason(text)
    words = tuple(line for line in text.splitlines() if line.strip()) if shown != text else ()
    problem = Problem(ProblemKind.PARSE_ERROR, shown, location, unit.name, words)
    return UnreadError(problem, node, is_unknown=_NEWER.search(text) is not None)


def _why_unknown(entry: Entry | None) -> str:
    match entry:
        case Unknown():
            return f": {entry.reason}"
        case Computed():
            return f": computed by `{ast.unparse(entry.node)[:60]}`"
        case Sibling():
            return f": `{entry.unit.name}` of this file cannot be read"
        case Imported():
            return f": imported as `{entry.dotted}`"
    return ""
