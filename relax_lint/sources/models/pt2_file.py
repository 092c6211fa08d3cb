"""Programs of `torch.export` in `.pt2` files. Importing this module imports TVM and torch.

Loading one can execute what is in it: torch unpickles parts, and evaluates and compiles strings.
"""

from __future__ import annotations

import logging
import warnings

import torch
from tvm.relax.frontend.torch import from_exported_program

from relax_lint.results.problem import Problem
from relax_lint.sources.models import unreadable
from relax_lint.sources.models.frontend import imported
from relax_lint.sources.reasons import reason
from relax_lint.sources.unit import ParsedUnit


def _explained(error: Exception) -> tuple[str, tuple[str, ...]]:
    """The node of the exported program that the frontend was at, and what can be done about it."""
    found, frame = None, error.__traceback__
    while frame is not None:
        node = frame.tb_frame.f_locals.get("node")
        if isinstance(node, torch.fx.Node):
            found = node
        frame = frame.tb_next
    advice = "decompose the operator before the export (`ExportedProgram.run_decompositions`)"
    return ("", (advice,)) if found is None else (f"`{found.target}` (node `{found.name}`): ", (advice,))


def load_pt2(path: str, shown: str, *, constant_weights: bool) -> ParsedUnit | Problem:
    """The module of a file that the user trusts, or RLX901. Buffers become constants, and dynamic dimensions
    keep torch's names (`s77`) and the bounds that were declared for them. Raises MemoryError.
    """
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.load(path)
    except MemoryError:
        raise
    except Exception as error:
        words = reason(str(error) or type(error).__name__)
        return unreadable(
            shown, f"torch {torch.__version__} cannot load this as an exported program: {words}"
        )
    return imported(
        shown,
        "PyTorch",
        lambda constants: from_exported_program(program, keep_params_as_input=not constants),
        _explained,
        constant_weights=constant_weights,
    )
