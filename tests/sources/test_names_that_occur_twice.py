"""Names that stand for several things in one text, or that stand in strings, and values that differ in each run."""

from __future__ import annotations

from pathlib import Path

import pytest
import tvm
from tvm.script import relax as R

import relax_lint
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

HEADER = "import numpy as np\nimport tvm\nfrom tvm.script import ir as I, relax as R, tirx as T\n"
OLD = """from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class M:
    @R.function
    def main({parameters}):
        {declared}
        s = R.memory.alloc_storage(R.shape([n * 4]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{extent}]), R.dtype("float32"))
        return t
"""
TWICE = 'p: R.Prim(value="n"), q: R.Prim(value="n"), x: R.Tensor(("n",), "float32")'
IN_STRINGS = """n, k, m = 64, 3, 5
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n * k + m",), "float32")):
    z = R.add(y, y)
    return z
"""
GIVEN = """@R.function
def main(x: R.Tensor((2,), "int64")):
    y = R.add(x, R.const({value}, "int64"))
    return y
"""


def said(text: str, folder: Path, code: str) -> list[Check]:
    path = folder / "a.py"
    path.write_text(text)
    return list(relax_lint.check(str(path), Config(select=(code,))).checks)


@pytest.mark.parametrize(
    ("parameters", "declared", "extent", "verdict"),
    [
        (TWICE, "n = T.int64()", "n", Verdict.ALWAYS_FINE),
        (TWICE, "n = T.int64()", "n + 1", Verdict.ALWAYS_WRONG),
        ('p: R.Prim(value="n"), q: R.Prim(value="n")', "n = T.int64()", "n", Verdict.ALWAYS_FINE),
        ('p: R.Prim(value="n"), n: R.Prim("int64")', "pass", "n", Verdict.ALWAYS_FINE),
        ('p: R.Prim(value="n"), n: R.Prim("int64")', "pass", "p", Verdict.NEEDS_RUNTIME_CHECK),
        ('n: R.Prim("int64"), p: R.Prim(value="n")', "pass", "p", Verdict.NEEDS_RUNTIME_CHECK),
        ('n: R.Prim(value="n"), p: R.Prim(value="n")', "pass", "n", Verdict.ALWAYS_FINE),
    ],
)
def test_parameters_that_equal_one_symbol(
    tmp_path: Path, parameters: str, declared: str, extent: str, verdict: Verdict
) -> None:
    text = OLD.format(parameters=parameters, declared=declared, extent=extent)
    assert not said(text, tmp_path, "RLX9")
    assert [check.verdict for check in said(text, tmp_path, "RLX101")] == [verdict]


def test_names_of_the_file_in_the_text_of_an_extent() -> None:
    (unit,) = read_units((HEADER + IN_STRINGS).encode(), "a.py").units
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit), parsed
    names = {"R": R, "n": 64, "k": 3, "m": 5}
    real = tvm.script.from_source(IN_STRINGS.partition("\n")[2], extra_vars=names)
    tvm.ir.assert_structural_equal(
        parsed.ir_module["main"].without_attr("global_symbol"), real.without_attr("global_symbol")
    )


@pytest.mark.parametrize(
    "value",
    ["np.random.randint(0, 9, (2,))", "np.random.rand(2).astype('int64')", "A"],
)
def test_what_differs_in_each_run_is_unknown(value: str) -> None:
    text = f"{HEADER}A = np.random.randint(0, 9, (2,))\n{GIVEN.format(value=value)}"
    (unit,) = read_units(text.encode(), "a.py").units
    parsed = read_unit(unit)
    assert isinstance(parsed, ParsedUnit), parsed
    (skipped,) = parsed.skipped
    assert skipped.problem is None
    assert "unknown" in skipped.reason
