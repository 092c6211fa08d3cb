"""Which names a cell of a notebook has, where a magic or the order of the runs decides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import relax_lint
from relax_lint.judging.report import check_parsed
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import FileUnits, ParsedUnit

IMPORTS = "import tvm\nfrom tvm.script import ir as I, relax as R, tirx as T\n"
FUNCTION = """@R.function
def f(x: R.Tensor((N,), "float32")):
    y = R.add(x, x)
    return y
"""
STORED = """@R.function
def f(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([N]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    return t
"""
OTHER_ORDER = "the cells are run from top to bottom, and not as they are numbered"
# The first cells before the one with the function.
FOUR = {
    "timed": ["N = 4", "%%timeit\nN = 64"],
    "timed a few times": ["N = 4", "%%timeit -n 3 -r1\nN = 64"],
    "of another Python": ["N = 4", "%%python3\nN = 64\ntvm = relax = 'ir_module'"],
    "of yet another": ["N = 4", "%%python\nN = 64\ntvm = relax = 'ir_module'"],
    "of a file": ["N = 4", f"%%writefile model.py\n{IMPORTS}N = 64\n"],
    "captured": ["N = 64", "%%capture\nN = 4"],
    "captured and timed": ["N = 4", "%%capture\n%%timeit\nN = 64"],
    "the time of a line": ["N = 64", "%time N = 4"],
    "the time of a line in a block": ["N = 64", "with a:\n  %time N = 4"],
    "a line that is timed": ["N = 4", "%timeit N = 64"],
}


def notebook(*cells: str, counts: Sequence[int | None] = ()) -> bytes:
    numbers: list[int | None] = [*counts, *[None] * len(cells)]
    code: list[dict[str, object]] = [
        {"cell_type": "code", "source": cell, "outputs": [], "execution_count": number}
        for cell, number in zip(cells, numbers, strict=False)
    ]
    return json.dumps({"cells": code, "nbformat": 4}).encode()


def read(*cells: str, counts: Sequence[int | None] = ()) -> FileUnits:
    return read_units(notebook(IMPORTS, *cells, counts=counts), "a.ipynb", "notebook")


def extents(found: FileUnits) -> list[int]:
    parsed = [read_unit(unit) for unit in found.units]
    assert found.problems == ()
    assert all(isinstance(one, ParsedUnit) for one in parsed), parsed
    return [int(one.ir_module["f"].params[0].ty.shape[0]) for one in parsed if isinstance(one, ParsedUnit)]


@pytest.mark.parametrize("cells", FOUR.values(), ids=FOUR.keys())
def test_what_a_name_is_behind_a_cell(cells: list[str]) -> None:
    assert extents(read(*cells, FUNCTION)) == [4]


def test_a_cell_that_is_timed_sees_the_names_before_it() -> None:
    found = read("N = 4", f"%%timeit\n{FUNCTION}", f"%%timeit N = 8\n{FUNCTION}", "N = 2", FUNCTION)
    assert sorted(extents(found)) == [2, 4, 8]
    places = {unit.text.location(unit.node).cell: unit for unit in found.units}
    assert {cell: extents(FileUnits((unit,))) for cell, unit in places.items()} == {3: [4], 4: [8], 6: [2]}


def test_a_program_of_its_own_sees_none() -> None:
    for magic in ("python3", "writefile a.py"):
        found = read("N = 64", f"%%{magic}\n{IMPORTS}{FUNCTION}")
        assert ["N" in unit.environment for unit in found.units] == [False]
        assert extents(read("N = 64", f"%%{magic}\n{IMPORTS}N = 4\n{FUNCTION}")) == [4]


def test_a_comment_in_a_cell_that_is_timed_is_one() -> None:
    comment = "# relax-lint: ignore[RLX205] -- it is timed\n"
    found = read(f"{comment}N = 4", f"%%timeit\n{comment}{FUNCTION}")
    first, second = (one.location.column for one in found.comments)
    (unit,) = found.units
    assert first < second < unit.text.location(unit.node).column


@pytest.mark.parametrize(
    ("counts", "is_assumed"),
    [
        ((), False),
        ((1, 2, 3, 4), False),
        ((3, 7, 8, None), False),
        ((1, 2, 4, 3), True),
        ((1, 2, 4, 2), True),
    ],
)
def test_cells_that_ran_in_another_order(
    tmp_path: Path, counts: Sequence[int | None], is_assumed: bool
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(notebook(IMPORTS, "N = 64", STORED, "N = 4", counts=counts))
    fine = [one for one in relax_lint.check(str(path), Config()).checks if one.verdict is Verdict.ALWAYS_FINE]
    assert fine
    assert {one.assumes for one in fine} == {(OTHER_ORDER,) if is_assumed else ()}


def test_what_no_other_cell_decides_needs_no_order() -> None:
    found = read(FUNCTION.replace("N", "4"), FUNCTION, "N = 4", counts=(1, 4, 3, 2))
    assert [unit.assumptions for unit in found.units] == [(), ()]
    found = read("N = 4", FUNCTION, counts=(1, 4, 3))
    assert [unit.assumptions for unit in found.units] == [(OTHER_ORDER,)]


OUTPUTS = {
    "of a command": ["N = !nproc"],
    "of a magic": ["N = %env SIZE"],
    "as a condition": ["K = !nproc", "N = 4 if K else 64"],
    "asked for": ["K = !nproc\nN = 64 if K is None else 4"],
}


@pytest.mark.parametrize("cells", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_what_a_command_prints_is_unknown(cells: list[str]) -> None:
    (check,) = stored(*cells)
    assert check.verdict is Verdict.NEEDS_RUNTIME_CHECK
    assert any("the value of `N` is unknown" in fact for fact in check.assumes)
    (unit,) = read(*cells, FUNCTION).units
    found = read_unit(unit)
    assert isinstance(found, ParsedUnit)
    assert [one.problem for one in found.skipped] == [None]


def test_a_command_whose_output_nothing_gets_is_none_of_it() -> None:
    (check,) = stored("N = 64\n!nproc\n%env SIZE", "K = !nproc")
    assert (check.verdict, check.assumes) == (Verdict.ALWAYS_FINE, ())


def stored(*cells: str) -> list[Check]:
    (unit,) = read(*cells, STORED).units
    found = read_unit(unit)
    assert isinstance(found, ParsedUnit)
    checks = check_parsed(found, "a.ipynb", Config(select=("RLX101",))).checks
    return [check for check in checks if check.rule == "RLX101"]
