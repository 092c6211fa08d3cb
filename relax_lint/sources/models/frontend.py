"""What TVM's frontends have in common. Importing this module imports TVM."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

from relax_lint.model.positions import NoPositions
from relax_lint.results.problem import Problem
from relax_lint.sources.models import unreadable
from relax_lint.sources.reasons import reason
from relax_lint.sources.unit import ParsedUnit

_NOTE = "imported by TVM's {} frontend, weights as {}"


# Makes a module of a model, with the weights as constants or not.
Convert = Callable[[bool], Any]
# The node of a model that an error is about, in words, and what its reader can do.
Explain = Callable[[Exception], "tuple[str, tuple[str, ...]]"]


def imported(
    shown: str, frontend: str, convert: Convert, explain: Explain, *, constant_weights: bool
) -> ParsedUnit | Problem:
    """The module that a frontend makes of a model, or RLX901 with its reason and the node of the model that
    it is about. Weights are made constants, too, where the frontend needs their values. Raises MemoryError.
    """
    failures: list[Exception] = []
    for constants in (True,) if constant_weights else (False, True):
        try:
            module = _converted(convert, constants)
        except MemoryError:
            raise
        except Exception as error:
            failures.append(error)
            continue
        notes = [_NOTE.format(frontend, "constants" if constants else "parameters")]
        if failures:
            where, _ = explain(failures[0])
            notes.append(f"with weights as parameters it cannot be imported: {where}{_words(failures[0])}")
        return ParsedUnit(None, module, NoPositions(), notes=tuple(notes))
    where, advice = explain(failures[-1])
    message = f"TVM's {frontend} frontend cannot import this model: {where}{_words(failures[-1])}"
    return replace(unreadable(shown, message), detail=advice)


def _converted(convert: Convert, constants: bool) -> Any:
    # The frontend prints what it fails at.
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return convert(constants)


def _words(error: Exception) -> str:
    return reason(str(error) or type(error).__name__)
