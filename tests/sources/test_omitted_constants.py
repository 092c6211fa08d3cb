"""Printed modules whose constants the printer left out or wrote before them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.problem import Problem
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

HEADER = "# from tvm.script import ir as I\n# from tvm.script import relax as R, tirx as T\n"
KERNEL = """    @T.prim_func(private=True{flag})
    def copy({parameters}):
{opened}        for i in range(4):
            b[i] = a[i]
"""
CONSTANT = 'metadata["ir.GenericConst"][0]'


def read(text: str) -> ParsedUnit | Problem:
    (unit,) = read_units(text.encode(), "dump.py").units
    return parse_unit(unit)


def constants(parsed: ParsedUnit) -> list[tuple[tuple[int, ...], str]]:
    """Shape and element type of every constant of the Relax functions."""
    found: list[tuple[tuple[int, ...], str]] = []

    def visit(node: object) -> None:
        data: Any = getattr(node, "value", getattr(node, "data", None))
        if hasattr(data, "numpy"):
            found.append((data.shape, str(data.dtype)))

    for function in parsed.ir_module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return found


def module(body: str, kernel: str = "", returns: str = "") -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    function = f"    @R.function\n    def main(x: R.Tensor((4,), dtype='float32')){returns}:\n{lines}"
    return f"{HEADER}@I.ir_module\nclass Module:\n{kernel}{function}"


BUFFERS = KERNEL.format(
    flag="", parameters='a: T.Buffer((4,), "float16"), b: T.Buffer((4,), "float16")', opened=""
)
HANDLES = KERNEL.format(
    flag="",
    parameters="a_handle: T.handle, b_handle: T.handle",
    opened='        a = T.match_buffer(a_handle, (T.int64(4),), "float16")\n'
    '        b = T.match_buffer(b_handle, (T.int64(4),), "float16")\n',
)


@pytest.mark.parametrize("kernel", [BUFFERS, HANDLES])
@pytest.mark.parametrize(
    "body",
    [
        f'y = R.call_tir(cls.copy, ({CONSTANT},), out_ty=R.Tensor((4,), dtype="float16"))',
        f'y = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float16"), 0)\n_ = cls.copy({CONSTANT}, y)',
    ],
)
def test_a_kernel_tells_the_type_of_its_argument(kernel: str, body: str) -> None:
    parsed = read(module(f"cls = Module\n{body}\nreturn y", kernel))
    assert isinstance(parsed, ParsedUnit), parsed
    assert constants(parsed) == [((4,), "float16")]
    assert "printed-constants" in parsed.notes[0]


def test_an_annotation_tells_the_type_for_every_use() -> None:
    body = f'y: R.Tensor((2, 3), dtype="int8") = {CONSTANT}\nz = R.add(y, {CONSTANT})\nreturn z'
    parsed = read(module(body))
    assert isinstance(parsed, ParsedUnit), parsed
    assert set(constants(parsed)) == {((2, 3), "int8")}


def test_the_return_type_tells_the_type() -> None:
    parsed = read(module(f"return {CONSTANT}", returns=' -> R.Tensor((7,), dtype="int32")'))
    assert isinstance(parsed, ParsedUnit), parsed
    assert constants(parsed) == [((7,), "int32")]


def test_a_type_that_nothing_tells_is_said() -> None:
    problem = read(module(f"y = R.add(x, {CONSTANT})\nreturn y"))
    assert isinstance(problem, Problem)
    assert problem.kind == "unresolved-name"
    assert "constant" in problem.message
    assert "show_meta" in problem.message
    assert problem.location is not None
    assert problem.location.line == 7


def test_constants_that_are_written_out_are_read() -> None:
    value = relax.const(np.arange(6, dtype="float32").reshape(2, 3))
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.op.add(x, value)))
    written = builder.get()
    parsed = read(written.script(show_meta=True))
    assert isinstance(parsed, ParsedUnit), parsed
    tvm.ir.assert_structural_equal(parsed.ir_module, written, map_free_vars=True)


@pytest.mark.parametrize(
    "graph", ["not json", '{"root_index": 0, "nodes": [{"type": "runtime.Module"}]}', '{"nodes": []}']
)
def test_other_graphs_are_not_loaded(graph: str) -> None:
    text = f"import tvm\nmetadata = tvm.ir.load_json({graph!r})\n" + module(f"return R.add(x, {CONSTANT})")
    problem = read(text)
    assert isinstance(problem, Problem)
    assert problem.kind == "unresolved-name"
