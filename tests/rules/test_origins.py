"""Where the symbols of a finding come from."""

from __future__ import annotations

import pytest

import relax_lint
from relax_lint.results.check import Check

SCALAR = 'p: R.Prim("int64")'
SHAPE = 's: R.Shape(["n"])'
FIRST, SECOND = 'a: R.Tensor(("n", 2), "int8")', 'b: R.Tensor(("m", "k"), "int8")'
CAST = 'R.match_cast(x, R.Tensor((k,), "float32"))'

FUNCTION = """\
    @R.function(pure=False)
    def {name}({parameters}):
{body}
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        tensor = R.memory.alloc_tensor(storage, 0, R.shape([{shape}]), "float32")
        return tensor

"""


def function(name: str, parameters: str, shape: str, *body: str) -> str:
    """A function with a tensor of a shape on 16 bytes."""
    lines = "\n".join(f"        {line}" for line in body)
    return FUNCTION.format(name=name, parameters=parameters, shape=shape, body=lines)


TEXT = (
    "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
    + function("tensors", f"{FIRST}, {SECOND}", "n, k", "n = T.int64()", "m = T.int64()", "k = T.int64()")
    + function("scalar", SCALAR, "p", "_ = R.tuple()")
    + function("shape", SHAPE, "n", "n = T.int64()")
    + function("cast", 'x: R.Tensor(ndim=1, dtype="float32")', "k", "k = T.int64()", f"y = {CAST}")
    + function("fine", 'x: R.Tensor(("n",), "float32")', "n", "n = T.int64()", "R.assert_op(n <= 4)")
)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str | None, Check]:
    """What RLX101 says, by function."""
    path = tmp_path_factory.mktemp("origins") / "program.py"
    path.write_text(TEXT, encoding="utf-8")
    return {check.function: check for check in relax_lint.check(path, {"select": ["RLX101"]}).checks}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tensors", [("`n` comes from parameter `a`", FIRST), ("`k` comes from parameter `b`", SECOND)]),
        ("scalar", [("`p` comes from parameter `p`", SCALAR)]),
        ("shape", [("`n` comes from parameter `s`", SHAPE)]),
        ("cast", [("`k` comes from match_cast to `y`", CAST)]),
        ("fine", []),
    ],
)
def test_words_and_place_of_each_origin(
    name: str, expected: list[tuple[str, str]], findings: dict[str | None, Check]
) -> None:
    lines = TEXT.splitlines()
    seen = []
    for origin in findings[name].origins:
        at = origin.location
        assert at is not None
        seen.append((origin.message, lines[at.line - 1][at.column - 1 : at.end_column - 1]))
    assert seen == expected
