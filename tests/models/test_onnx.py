"""`.onnx` files as input, and what can be wrong with them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from onnx import TensorProto, helper, numpy_helper
from tvm.relax.frontend.onnx import from_onnx

from relax_lint.results.memory_figures import Amount
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import MemoryRequest, read_bindings
from relax_lint.sources.models import onnx_file
from tests.models.conftest import Run, complaint, judged, totals


def model(operator: str = "Relu") -> onnx.ModelProto:
    """relu(x @ w), and softmax of that: x is [batch, length, 8], w [8, 4]."""
    weight = numpy_helper.from_array(np.ones((8, 4), "float32"), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node(operator, ["a"], ["b"]),
        helper.make_node("Softmax", ["b"], ["y"], axis=-1),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "length", 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "length", 4])
    graph = helper.make_graph(nodes, "graph", [x], [y], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    onnx.save(model(), path)
    return path


@pytest.fixture
def split(tmp_path: Path) -> Path:
    """The model with its weights in a file of their own."""
    path = tmp_path / "split.onnx"
    onnx.save(model(), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert (tmp_path / "weights.bin").stat().st_size == 8 * 4 * 4
    return path


def test_dimensions_stay_symbolic_under_their_own_names(saved: Path) -> None:
    total = totals(saved)
    # x is 8 and w 8 * 4 floats; the fused product and the softmax have 4 floats for each position.
    assert (total.parameter_count, total.parameter_bytes) == (2, Amount("32*batch*length + 128", None))
    assert total.io_used_memory == Amount("48*batch*length + 128", None)
    assert total.unplanned_dynamic_count == 2
    assert total.peak_live == Amount("32*batch*length", None)
    assert total.constant_count == 0


def test_values_for_the_dimensions(saved: Path) -> None:
    request = MemoryRequest(read_bindings(["batch=3", "length=100"]))
    total = totals(saved, Config(lower=True, memory=request))
    assert total.peak_live is not None
    assert total.peak_live.value == 2 * 3 * 100 * 4 * 4
    # 4800 bytes are two pages.
    assert total.reserved["pooled"] == Amount("8192*((batch*length + 255)//256)", 2 * 8192)


def test_weights_in_a_file_beside_the_model(saved: Path, split: Path) -> None:
    assert totals(split).parameter_bytes == totals(saved).parameter_bytes


def test_weights_as_constants(saved: Path) -> None:
    total = totals(saved, Config(lower=True, weights="constants"))
    assert (total.parameter_count, total.parameter_bytes) == (1, Amount("32*batch*length", None))
    assert (total.constant_count, total.constant_bytes) == (1, Amount("128", 128))
    assert total.peak_live == Amount("32*batch*length", None)


def test_allocations_of_a_lowered_model_are_fine(saved: Path) -> None:
    checks = judged(saved).checks
    # The result has no storage of its own before its allocation is lowered.
    assert [c.verdict.value for c in checks if c.rule == "RLX101"] == ["always-fine"]
    assert {c.location for c in checks} == {None}


def test_the_command_reports_models_and_leaves_them_alone_in_folders(run: Run, saved: Path) -> None:
    found = run("memory", "model.onnx")
    assert found.code == 0
    assert "a model allocates nothing explicitly: `--lower` shows what" in found.out
    assert re.search(r"parameters +32\*batch\*length \+ 128 bytes in 2 parameters\n", found.out)
    assert re.search(r"peak live +0 bytes\n", found.out)
    assert run("memory", ".").out == "no Relax function in 0 inputs\n"


def test_one_broken_model_takes_nothing_from_the_others(run: Run, saved: Path) -> None:
    Path("broken.onnx").write_bytes(b"no model at all")
    found = run("memory", "broken.onnx", "model.onnx", "absent.onnx", "--lower")
    assert (found.code, found.err) == (1, "")
    assert "error[RLX901] parse-error: not an ONNX model: " in found.out
    assert "--> broken.onnx" in found.out
    assert "cannot be read: No such file or directory" in found.out
    assert re.search(r"peak live +32\*batch\*length bytes\n", found.out)


@pytest.mark.parametrize("content", [b"", b"no model at all", b"\x08\x07", bytes(range(256))])
def test_what_is_no_onnx_model(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert complaint(path).startswith("RLX901 not an ONNX model: ")


def moved_weights(path: Path, value: str) -> Path:
    """The model with its weights said to be somewhere else."""
    broken = onnx.load(path, load_external_data=False)
    broken.graph.initializer[0].external_data[0].value = value
    onnx.save(broken, path)
    return path


def test_missing_weights(split: Path) -> None:
    said = complaint(moved_weights(split, "gone.bin"))
    assert said.startswith("RLX901 the model's weights in other files cannot be read: ")
    assert "gone.bin" in said


def test_weights_that_are_cut_short(split: Path) -> None:
    split.with_name("weights.bin").write_bytes(b"\0" * 100)
    assert complaint(split).startswith("RLX901 ")


@pytest.mark.parametrize(
    "value", ["../outside.bin", "sub/../../outside.bin", "OUTSIDE", "", "/dev/zero", "a\0b"]
)
def test_weights_outside_of_the_models_folder_are_not_read(split: Path, tmp_path: Path, value: str) -> None:
    outside = tmp_path.parent / "outside.bin"
    outside.write_bytes(b"\0" * 128)
    said = complaint(moved_weights(split, str(outside) if value == "OUTSIDE" else value))
    assert said.startswith("RLX903 the model's weights are not read: ")
    assert said.endswith("is not inside the folder of the model")


def test_weights_behind_a_link_are_not_read(split: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "weights.bin").write_bytes(b"\0" * 128)
    (tmp_path / "file.bin").symlink_to(outside / "weights.bin")
    (tmp_path / "folder").symlink_to(outside)
    os.mkfifo(tmp_path / "pipe.bin")
    assert complaint(moved_weights(split, "file.bin")).endswith("`file.bin` is a link")
    assert complaint(moved_weights(split, "pipe.bin")).endswith("`pipe.bin` is not a regular file")
    assert complaint(moved_weights(split, "folder/weights.bin")).startswith("RLX903 ")


def test_a_model_named_without_its_folder(run: Run, split: Path, tmp_path: Path) -> None:
    assert "RLX90" not in run("memory", "split.onnx").out
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "weights.bin").write_bytes((tmp_path / "weights.bin").read_bytes())
    # Folders below that of the model are beside it as well.
    moved_weights(split, "sub/weights.bin")
    assert "RLX90" not in run("memory", "split.onnx").out


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("offset", "1"),
        ("offset", "-1"),
        ("length", "129"),
        ("length", "9" * 30),
        ("length", "x"),
        ("offset", "200"),
    ],
)
def test_weights_that_are_said_to_be_beyond_their_file(split: Path, key: str, value: str) -> None:
    broken = onnx.load(split, load_external_data=False)
    data = broken.graph.initializer[0].external_data
    for entry in [entry for entry in data if entry.key == key]:
        data.remove(entry)
    data.add(key=key, value=value)
    onnx.save(broken, split)
    assert complaint(split).startswith(
        "RLX901 the model's weights in other files cannot be read: `weights.bin`"
    )


def test_tensors_at_any_place_are_looked_at(tmp_path: Path) -> None:
    secret = TensorProto(name="t", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    secret.external_data.add(key="location", value="../secret.bin")
    for place in ("attribute", "list", "subgraph", "function", "sparse"):
        found = model()
        node = found.graph.node[0]
        if place == "attribute":
            node.attribute.append(helper.make_attribute("value", secret))
        elif place == "list":
            node.attribute.append(helper.make_attribute("values", [secret]))
        elif place == "subgraph":
            node.attribute.append(helper.make_attribute("body", helper.make_graph([], "g", [], [], [secret])))
        elif place == "function":
            constant = helper.make_node("Constant", [], ["c"], value=secret)
            found.functions.append(helper.make_function("d", "f", [], ["c"], [constant], []))
        else:
            found.graph.sparse_initializer.add().values.CopyFrom(secret)
        path = tmp_path / f"{place}.onnx"
        path.write_bytes(found.SerializeToString())
        assert complaint(path).startswith("RLX903 "), place


def test_an_operator_that_tvm_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(model("Fancy"), path)
    said = complaint(path)
    assert said.startswith("RLX901 TVM's ONNX frontend cannot import this model: ")
    assert said.endswith(": Fancy")


def test_a_model_on_standard_input(run: Run) -> None:
    found = run("memory", "-", "--stdin-filename", "model.onnx")
    assert "a model is read from a file, not from standard input" in found.out
    assert found.code == 1


def test_without_the_package(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relax_lint.sources.models.find_spec", lambda name: None)
    said = complaint(saved)
    assert said == (
        "RLX904 reading this needs the package `onnx`: `pip install 'relax-lint[onnx]'` installs it"
    )


def test_weights_that_are_listed_as_inputs(tmp_path: Path, saved: Path) -> None:
    listed = model()
    listed.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [8, 4]))
    path = tmp_path / "listed.onnx"
    onnx.save(listed, path)
    found, expected = totals(path), totals(saved)
    assert (found.parameter_count, found.parameter_bytes) == (2, expected.parameter_bytes)
    assert found.peak_live == expected.peak_live


def reshaping(path: Path, operator: str, *inputs: str, **attributes: object) -> Path:
    """`operator` of x [2, 8], and of a weight `shape` that holds [4, 4]."""
    shape = numpy_helper.from_array(np.array([4, 4], "int64"), "shape")
    node = helper.make_node(operator, ["x", *inputs], ["y"], name="the_node", **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "graph", [x], [y], [shape])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def test_weights_become_constants_where_their_values_are_needed(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def picky(given: onnx.ModelProto, keep_params_in_input: bool) -> Any:
        if keep_params_in_input:
            node = given.graph.node[0]
            raise ValueError(f"the value of {node.input[1]} is needed")
        return from_onnx(given, keep_params_in_input=False)

    monkeypatch.setattr(onnx_file, "from_onnx", picky)
    found = judged(saved, Config())
    assert [check.rule for check in found.checks if check.rule.startswith("RLX9")] == []
    assert "imported by TVM's ONNX frontend, weights as constants" in found.notes
    assert any(
        "cannot be imported: `MatMul` (the node of `a`): the value of w" in note for note in found.notes
    )


def test_a_failure_names_the_node_and_says_what_to_do(tmp_path: Path) -> None:
    path = reshaping(tmp_path / "wrong.onnx", "Squeeze", "shape")
    (check,) = judged(path, Config()).checks
    assert check.rule == "RLX901"
    assert "cannot import this model: `Squeeze` (node `the_node`): " in check.message
    assert "node `the_node` is `Squeeze` of `x`, `shape`" in check.notes
    assert any("replace `Squeeze`" in note for note in check.notes)
