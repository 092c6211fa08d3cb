"""Models as input, through TVM's frontends: `.onnx`, and `.pt2` of `torch.export`. Imports no TVM."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from relax_lint.results.location import Location
from relax_lint.results.problem import Problem, ProblemKind

if TYPE_CHECKING:
    from relax_lint.sources.unit import ParsedUnit

PACKAGES = {"onnx": "onnx", "pt2": "torch"}
"""The package that reads each kind; the extra of relax-lint that installs it has the same name."""


def refused(path: str, kind: str, *, trusted: bool) -> Problem | None:
    """RLX903 for a model that could execute something and is not `trusted`; RLX904 where the package that
    reads this kind of model is not installed.
    """
    package = PACKAGES[kind]
    if kind == "pt2" and not trusted:
        why = "loading a `.pt2` file can execute code that it contains"
        return unreadable(
            path, f"{why}: `--trust-models` loads files that you trust", kind=ProblemKind.UNSAFE_SOURCE
        )
    if find_spec(package) is not None:
        return None
    hint = f"`pip install 'relax-lint[{package}]'` installs it"
    return unreadable(
        path, f"reading this needs the package `{package}`: {hint}", kind=ProblemKind.ANALYSIS_FAILED
    )


def load_model(path: str, kind: str, shown: str, *, constant_weights: bool) -> ParsedUnit | Problem:
    """The module of a model file, its weights as constants or else as parameters; `shown` is the path to
    show. Imports TVM and what the kind of model needs. Raises MemoryError.
    """
    if kind == "onnx":
        from relax_lint.sources.models.onnx_file import load_onnx

        return load_onnx(path, shown, constant_weights=constant_weights)
    from relax_lint.sources.models.pt2_file import load_pt2

    return load_pt2(path, shown, constant_weights=constant_weights)


def unreadable(path: str, message: str, kind: ProblemKind = ProblemKind.PARSE_ERROR) -> Problem:
    """A model that cannot be read; `path` is the path to show."""
    return Problem(kind, message, Location(path, 1, 1, 1, 1))
