"""Running modules on the real Relax VM: confirms diagnoses, and is the oracle of the tests."""

from relax_lint.replay.guard import Damage, GuardUnavailableError
from relax_lint.replay.machine import Machine, Module, Outcome, RunResult
from relax_lint.replay.notation import Line, describe, parse_line
from relax_lint.replay.values import Input, Output, Scalar, Shape, Tensor, parse_input

__all__ = [
    "Damage",
    "GuardUnavailableError",
    "Input",
    "Line",
    "Machine",
    "Module",
    "Outcome",
    "Output",
    "RunResult",
    "Scalar",
    "Shape",
    "Tensor",
    "describe",
    "parse_input",
    "parse_line",
]
