"""Where the symbols of a finding come from."""

from __future__ import annotations

from pathlib import Path

import pytest

import relax_lint
from relax_lint.diagnostic import Check

TEMPLATE = """\
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
    @R.function(pure=False)
    def main({parameters}):
{body}
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([{shape}]), "float32")
        return tensor
"""


def finding(folder: Path, parameters: str, shape: str, *body: str) -> Check:
    """What RLX101 says of the tensor."""
    text = TEMPLATE.format(
        parameters=parameters, shape=shape, body="\n".join(f"        {line}" for line in body)
    )
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    (check,) = relax_lint.check(path, {"select": ["RLX101"]}).checks
    return check


def quoted(folder: Path, check: Check) -> list[tuple[str, str]]:
    """The words of each origin, and the text at its place."""
    lines = (folder / "program.py").read_text(encoding="utf-8").splitlines()
    places = [(origin.message, origin.location) for origin in check.origins]
    return [
        (message, "" if at is None else lines[at.line - 1][at.column - 1 : at.end_column - 1])
        for message, at in places
    ]


def test_each_symbol_of_the_condition_comes_from_a_parameter(tmp_path: Path) -> None:
    first, second = 'a: R.Tensor(("n", 2), "int8")', 'b: R.Tensor(("m", "k"), "int8")'
    body = ("n = T.int64()", "m = T.int64()", "k = T.int64()")
    check = finding(tmp_path, f"{first}, {second}", "n, k", *body)
    assert quoted(tmp_path, check) == [
        ("`n` comes from parameter `a`", first),
        ("`k` comes from parameter `b`", second),
    ]


@pytest.mark.parametrize("parameter", ['n: R.Prim("int64")', 's: R.Shape(["n"])'])
def test_scalars_and_shapes_are_parameters_too(parameter: str, tmp_path: Path) -> None:
    body = ("n = T.int64()",) if parameter.startswith("s") else ("_ = R.tuple()",)
    check = finding(tmp_path, parameter, "n", *body)
    assert quoted(tmp_path, check) == [(f"`n` comes from parameter `{parameter[0]}`", parameter)]


def test_a_symbol_of_a_match_cast_comes_from_there(tmp_path: Path) -> None:
    cast = 'R.match_cast(x, R.Tensor((k,), "float32"))'
    check = finding(tmp_path, 'x: R.Tensor(ndim=1, dtype="float32")', "k", "k = T.int64()", f"y = {cast}")
    assert quoted(tmp_path, check) == [("`k` comes from match_cast to `y`", cast)]


def test_what_is_fine_needs_no_origin(tmp_path: Path) -> None:
    body = ("n = T.int64()", "R.assert_op(n <= 4)")
    assert finding(tmp_path, 'x: R.Tensor(("n",), "float32")', "n", *body).origins == ()
