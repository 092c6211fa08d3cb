"""ONNX models. Importing this module imports TVM and onnx."""

from __future__ import annotations

import onnx
from google.protobuf.message import DecodeError
from tvm.relax.frontend.onnx import from_onnx

from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.sources.models import unreadable
from relax_lint.sources.models.external_data import ForbiddenPlaceError, MissingWeightsError, load_weights
from relax_lint.sources.models.frontend import imported
from relax_lint.sources.reasons import reason
from relax_lint.sources.unit import ParsedUnit

_OLDEST_IR_VERSION = 3


def load_onnx(path: str, shown: str, *, constant_weights: bool) -> ParsedUnit | Problem:
    """The module of an ONNX file, or RLX901. Dimensions without a number stay symbolic under their own names.
    Weights may lie in files beside the model, nowhere else (else RLX903).
    """
    try:
        model = onnx.load(path, load_external_data=False)
    except (DecodeError, ValueError) as error:
        return unreadable(shown, f"not an ONNX model: {reason(str(error))}")
    if model.ir_version < _OLDEST_IR_VERSION or not model.graph.output:
        # Protocol buffers take an empty file, and many another, for a message without fields.
        return unreadable(shown, "not an ONNX model: it has no graph of a known version")
    try:
        load_weights(model, path)
    except ForbiddenPlaceError as error:
        return unreadable(
            shown, f"the model's weights are not read: {reason(str(error))}", kind=ProblemKind.UNSAFE_SOURCE
        )
    except (MissingWeightsError, OSError) as error:
        return unreadable(shown, f"the model's weights in other files cannot be read: {reason(str(error))}")
    return imported(
        shown,
        "ONNX",
        lambda: from_onnx(model, keep_params_in_input=not constant_weights),
        constant_weights=constant_weights,
    )
