"""What TVM's frontends have in common. Importing this module imports TVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from relax_lint.model.positions import NoPositions
from relax_lint.results.problem import Problem
from relax_lint.sources.models import unreadable
from relax_lint.sources.reasons import reason
from relax_lint.sources.unit import ParsedUnit

_NOTE = "imported by TVM's {} frontend, weights as {}"


def imported(
    shown: str, frontend: str, convert: Callable[[], Any], *, constant_weights: bool
) -> ParsedUnit | Problem:
    """The module that a frontend makes of a model, or RLX901 with its reason. Raises MemoryError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = convert()
    except MemoryError:
        raise
    except Exception as error:
        words = reason(str(error) or type(error).__name__)
        return unreadable(shown, f"TVM's {frontend} frontend cannot import this model: {words}")
    note = _NOTE.format(frontend, "constants" if constant_weights else "parameters")
    return ParsedUnit(None, module, NoPositions(), notes=(note,))
