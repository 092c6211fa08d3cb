"""ONNX models. Importing this module imports TVM and onnx."""

from __future__ import annotations

import re

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
_SHOWN = 4


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
    _without_listed_weights(model)
    return imported(
        shown,
        "ONNX",
        lambda constants: from_onnx(model, keep_params_in_input=not constants),
        lambda error: _explained(error, model),
        constant_weights=constant_weights,
    )


def _without_listed_weights(model: onnx.ModelProto) -> None:
    """Take weights out of the inputs, where files of old versions list them as well."""
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [one for one in model.graph.input if one.name not in weights]
    if len(inputs) != len(model.graph.input):
        del model.graph.input[:]
        model.graph.input.extend(inputs)


def _explained(error: Exception, model: onnx.ModelProto) -> tuple[str, tuple[str, ...]]:
    """The node that the frontend was at, and what can be done about it."""
    node = _node_of(error)
    if node is None:
        return _unsupported(error, model)
    name = f"node `{node.name}`" if node.name else f"the node of `{', '.join(node.output)}`"
    advice = [f"{name} is `{node.op_type}` of {_inputs(node)}"]
    if _depends_on_symbols(model):
        advice.append("extents without a number may be the reason: fix them in the model and try again")
    advice.append(
        f"replace `{node.op_type}` in the model, or export it with another version of the operator set"
    )
    return f"`{node.op_type}` ({name}): ", tuple(advice)


def _node_of(error: BaseException) -> onnx.NodeProto | None:
    """The innermost node that was being converted, from the frames that the error went through."""
    found, frame = None, error.__traceback__
    while frame is not None:
        node = frame.tb_frame.f_locals.get("node")
        if isinstance(node, onnx.NodeProto):
            found = node
        frame = frame.tb_next
    return found


def _unsupported(error: Exception, model: onnx.ModelProto) -> tuple[str, tuple[str, ...]]:
    """The nodes with the operators that a reason of the frontend names."""
    words = set(re.findall(r"\w+", str(error)))
    nodes = [node for node in model.graph.node if node.op_type in words]
    if not nodes or "not supported" not in str(error):
        return "", ()
    shown = [f"`{node.op_type}` is the node of `{', '.join(node.output)}`" for node in nodes[:_SHOWN]]
    return "", (*shown, "replace these operators in the model, or export it with another operator set")


def _inputs(node: onnx.NodeProto) -> str:
    return ", ".join(f"`{name}`" for name in node.input) or "no inputs"


def _depends_on_symbols(model: onnx.ModelProto) -> bool:
    return any(
        not extent.HasField("dim_value")
        for one in model.graph.input
        for extent in one.type.tensor_type.shape.dim
    )
