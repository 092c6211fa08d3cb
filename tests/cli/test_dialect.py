"""`--dialect`: how TVMScript is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

Write = Callable[[str, str], Path]

OLD = """\
from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_pure_packed("f", x, sinfo_args=R.Tensor((4,), "float32"))
        return y
"""


@pytest.mark.parametrize("dialect", ["auto", "old", "current"])
def test_old_text(run: Run, write: Write, dialect: str) -> None:
    write("model.py", OLD)
    done = run("--dialect", dialect, "model.py")
    assert done.returncode == 0, done.stdout + done.stderr
    # What no rewriting has explained is an unknown value.
    assert ("RLX902" in done.stdout) == (dialect == "current")
    assert ("0.25 or older" in done.stdout) == (dialect != "current")


def test_the_configuration_can_say_it(run: Run, write: Write) -> None:
    write("model.py", OLD)
    write("pyproject.toml", '[tool.relax-lint]\ndialect = "current"\n')
    assert "RLX902" in run("model.py").stdout
    assert "RLX902" not in run("--dialect", "auto", "model.py").stdout


def test_an_unknown_dialect(run: Run, write: Write) -> None:
    write("model.py", OLD)
    assert run("--dialect", "ancient", "model.py").returncode == 2
    write("pyproject.toml", '[tool.relax-lint]\ndialect = "ancient"\n')
    done = run("model.py")
    assert done.returncode == 2
    assert "`dialect` must be" in done.stderr
