"""Nothing judged is never success, and words that mean nothing are errors with what was probably meant."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

import relax_lint
from tests.cli.conftest import FINE, OVERFLOW, Run

Write = Callable[[str, str | bytes], str]

UNPLANNED = """\
from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 64), "float32")):
        with R.dataflow():
            y = R.nn.relu(R.matmul(x, w))
            R.output(y)
        return y
"""
KERNELS = """\
import pytest
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Kernels:
    @T.prim_func
    def f(a: T.Buffer((unknown,), "float32")):
        T.evaluate(0)


def test_it():
    with pytest.raises(ValueError):

        @I.ir_module
        class Bad:
            @R.function
            def main(x: R.Tensor((4,), "float32")):
                return undefined
"""


def test_what_is_not_planned_is_told_and_is_no_success(run: Run, write: Write) -> None:
    write("a.py", UNPLANNED)
    assert "`Module.main` is not planned: what it allocates is not judged (`--lower` " in run("a.py").stdout
    assert run("a.py", "--error-on-no-input").returncode == 3
    assert run("a.py", "--error-on-no-input", "--lower").returncode == 0


def test_a_budget_of_what_is_not_planned_is_undecided(run: Run, write: Write) -> None:
    write("a.py", UNPLANNED)
    found = run("a.py", "--max-memory", "1GiB", "--output-format", "json")
    (check,) = json.loads(found.stdout)["checks"]
    assert (check["rule"], check["undecided"], check["severity"]) == ("RLX601", True, "warning")
    assert found.returncode == 1


def test_memory_lowers_what_is_not_planned_and_says_so(run: Run, write: Write) -> None:
    write("a.py", UNPLANNED)
    found = run("memory", "a.py").stdout
    assert "a.py: lowered for `llvm` up to memory planning\n" in found
    assert re.search(r"planned +256\*n bytes in 1 storage of symbolic size\n", found)


def test_the_interface_treats_no_check_as_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(UNPLANNED)
    with pytest.raises(
        AssertionError, match=r"nothing was checked in 1 Relax function; `Module\.main` is not"
    ):
        relax_lint.assert_memory_safe(path)
    relax_lint.assert_memory_safe(path, {"lower": True})
    (total,) = relax_lint.memory(path)
    assert total.peak_live is not None
    assert total.peak_live.expr == "256*n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.py",), "missing.py: no such file or folder"),
        (("a.py", "gone/"), "gone/: no such file or folder"),
        (("memory", "a.py", "--max-memory", "globl=1MiB"), "`globl` of the budget; did you mean `global`?"),
        (("memory", "a.py", "--bind", "mm=3"), "no function has a symbol `mm`; the symbols are `m`"),
        (("a.py", "--select", "RLX1O1"), "unknown rule `RLX1O1`; did you mean"),
    ],
)
def test_words_that_mean_nothing_are_errors(
    run: Run, write: Write, arguments: tuple[str, ...], said: str
) -> None:
    write("a.py", OVERFLOW)
    found = run(*arguments)
    assert found.returncode == 2
    assert found.stdout == ""
    assert said in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "config",
    [{"per-file-ignores": {"*": ["RLX98"]}}, {"select": ["RLX999"]}, {"max-memory": {"globl": "1MiB"}}],
)
def test_the_interface_knows_the_same_words(tmp_path: Path, config: dict[str, object]) -> None:
    path = tmp_path / "a.py"
    path.write_text(OVERFLOW)
    with pytest.raises(ValueError, match="did you mean"):
        relax_lint.check(path, config)


def test_units_without_relax_and_units_that_are_meant_to_fail_are_no_errors(run: Run, write: Write) -> None:
    write("a.py", KERNELS)
    found = run("a.py")
    assert found.returncode == 0
    assert "a.py: 1 unit inside `pytest.raises` skipped: meant to fail\n" in found.stdout
    assert "error" not in found.stdout


def test_the_counts_come_last_and_have_no_rows_of_zeros(run: Run, write: Write) -> None:
    write("a.py", OVERFLOW)
    lines = run("a.py").stdout.splitlines()
    rows = lines[lines.index(next(line for line in lines if " checks in " in line)) :]
    assert [row.split()[0] for row in rows[1:]] == ["always-wrong", "RLX101", "all"]


def test_what_is_undecided_is_a_note_unless_it_is_asked_for(run: Run, write: Write) -> None:
    text = FINE.replace("        alloc =", "        storage = Module.other()\n        alloc =", 1)
    other = """
        @R.function(pure=False)
        def other() -> R.Object:
            return R.call_packed("make_storage", ty_args=[R.Object])
    """
    write(
        "a.py", text.replace("    @T.prim_func", dedent(other).replace("\n", "\n    ") + "\n    @T.prim_func")
    )
    found = {strict: run("a.py", "--select", "RLX101", *strict) for strict in ((), ("--strict",))}
    assert "note[RLX101]" in found[()].stdout
    assert "warning[RLX101]" in found["--strict",].stdout
    assert [one.returncode for one in found.values()] == [0, 1]
