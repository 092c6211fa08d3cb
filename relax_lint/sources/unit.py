"""The seam between where text comes from and the analysis of a module."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from relax_lint.model.positions import Positions
from relax_lint.results.location import Location
from relax_lint.results.problem import Problem
from relax_lint.sources.ignore_comment import IgnoreComment
from relax_lint.sources.text import SourceText
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Skipped:
    """Something of a unit that cannot be read and is treated as an unknown value: why, where, and in which
    function (None for the module as a whole). `problem` is what is wrong with it; None where nothing is, but
    that it is not known. `follows` says that it could be read, were it not for something else.
    """

    reason: str
    location: Location | None
    function: str | None
    problem: Problem | None = None
    follows: bool = False

    @property
    def text(self) -> str:
        """The reason with its line."""
        line = "" if self.location is None else f" ({self.location.line_in_words})"
        return self.reason + line


@record(frozen=True)
class ParsedUnit:
    """One module, to be analysed. `module_name` is the class's name; None for saved IR and bare functions.

    `assumptions` are values that were assumed to read the unit (a parameter's default, say);
    `notes` are things worth saying once per input (the dialect that it was read as). `ill_formed` is TVM's
    reason where its well-formedness check refuses the module and the text does not switch that check off.
    `script` is the text where there is one that can be changed. What was not read is `skipped`; `depends`
    tells for each function on which of it its verdicts depend. `called_unseen` are the functions that may be
    called from there, or from functions in Python.
    """

    module_name: str | None
    ir_module: Any
    positions: Positions
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ill_formed: str | None = None
    script: Script | None = None
    skipped: tuple[Skipped, ...] = ()
    depends: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    called_unseen: frozenset[str] = frozenset()


class Origins(Protocol):
    """From the nodes of a module to those of the tree that was parsed."""

    def statement(self, var: Any) -> tuple[ast.stmt, bool] | None:
        """The statement that made a binding, and whether the binding is all that the statement is."""
        ...

    def expression(self, var: Any, value: Any) -> ast.AST | None:
        """The expression that a binding's value was made of."""
        ...

    def definition(self, name: str) -> ast.FunctionDef | None:
        """The definition of a function."""
        ...


@record(frozen=True)
class Script:
    """The text of a unit, for those who change it. What was parsed is the unit's tree or, where that is in
    an older dialect (`is_old`), a copy of it whose nodes stand where those stand that they were made of.
    """

    unit: Unit
    origins: Origins
    is_old: bool


@record(frozen=True)
class Imported:
    """A name bound by an import, or to what an import offers: its canonical dotted name."""

    dotted: str
    assumption: str | None = None


@record(frozen=True)
class Literal:
    """A name bound to a plain Python value; `assumption` says where a value assumed comes from."""

    value: Any
    assumption: str | None = None


@record(frozen=True)
class Computed:
    """A name bound to an expression of allowed calls, evaluated when the unit is parsed."""

    node: ast.expr
    assumption: str | None = None


@record(frozen=True)
class Sibling:
    """A name bound to another TVMScript definition of the file, parsed when the unit is parsed."""

    unit: Unit
    assumption: str | None = None


@record(frozen=True)
class Unknown:
    """A name whose value cannot be known without running the file, and why."""

    reason: str


Entry = Imported | Literal | Computed | Sibling | Unknown


@record(frozen=True)
class Unit:
    """One `@I.ir_module` class or TVMScript function, cut out of its file; plain data, can be pickled.

    `kind` is `module` for a class, `function` for a Relax function that stands alone, `prim_func` for a
    TIR function that another unit refers to. `line` is that of the file. `environment` holds the names of
    the enclosing scopes that the unit mentions. `is_damaged` where a part that is not Python was left out;
    `assumptions` are values that were assumed to make its text.
    """

    name: str
    kind: str
    line: int
    text: SourceText
    node: ast.ClassDef | ast.FunctionDef
    environment: Mapping[str, Entry] = field(default_factory=dict)
    check_well_formed: bool = True
    is_damaged: bool = False
    assumptions: tuple[str, ...] = ()


@record(frozen=True)
class FileUnits:
    """What one input holds: the units that can go to the parser, the problems found on the way, its ignore
    comments, and how many further units are inside `with pytest.raises(...)`: they are meant to fail.
    """

    units: tuple[Unit, ...] = ()
    problems: tuple[Problem, ...] = ()
    comments: tuple[IgnoreComment, ...] = ()
    meant_to_fail: int = 0
