"""Nothing in a linted file is executed: expressions that would leave a trace, at every place of a file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.attack.payloads import EXPRESSIONS, REPRESENTATIVE
from tests.attack.positions import HARMLESS, REFUSED
from tests.attack.trying import Attack, attempt, matrix, placed

# A kernel in another language is taken out of the text: its source is looked at by nobody.
_TAKEN_OUT = "call_kernel"
_FEW: Mapping[str, str] = {name: EXPRESSIONS[name] for name in REPRESENTATIVE[:2]}


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


def tried(
    positions: Mapping[str, str], expressions: Mapping[str, str], canary: Path, *, refused: bool
) -> int:
    outcomes = attempt(matrix(positions, expressions, canary))
    assert not canary.exists()
    assert {name: outcome.events for name, outcome in outcomes.items() if outcome.events} == {}
    for name, outcome in outcomes.items():
        if not name.endswith(f"-{_TAKEN_OUT}"):
            assert outcome.refused == refused, (name, outcome)
            assert refused or outcome.functions, (name, outcome)
    return len(outcomes)


def test_every_place_that_is_evaluated_is_refused(canary: Path) -> None:
    assert tried(REFUSED, _FEW, canary, refused=True) == len(REFUSED) * len(_FEW)


def test_what_nobody_evaluates_hides_no_module(canary: Path) -> None:
    tried(HARMLESS, _FEW, canary, refused=False)


def test_every_expression_is_refused(canary: Path) -> None:
    places = {name: REFUSED[name] for name in ("value", "parameter_extent", "used_name")}
    tried(places, EXPRESSIONS, canary, refused=True)


@pytest.mark.slow
def test_every_expression_at_every_place(canary: Path) -> None:
    assert tried(REFUSED, EXPRESSIONS, canary, refused=True) > 5_000
    assert tried(HARMLESS, EXPRESSIONS, canary, refused=False) > 1_000


def test_the_audit_hears_what_a_file_does(canary: Path) -> None:
    # Else the tests above would prove nothing.
    from relax_lint.running.pool import Item, WorkerPool
    from relax_lint.settings.config import Config

    with WorkerPool(1, time_limit_s=30, memory_limit_bytes=None, sandbox="off") as pool:
        pool.submit("tests.attack.guilty:analyse", str(canary), Config())
        (heard,) = [event.value for event in pool.events() if isinstance(event, Item)]
    assert canary.exists()
    assert any(event.startswith("open ") and "'w'" in event for event in heard)
    assert any(event.startswith("os.system") for event in heard)


@pytest.mark.parametrize("position", ["value", "kernel_store"])
def test_tvm_itself_would_execute_it(position: str, canary: Path, tmp_path: Path) -> None:
    text = placed(REFUSED[position], EXPRESSIONS["open"], canary)
    victim = tmp_path / "victim.py"
    victim.write_text(
        text[: text.index("@I.ir_module")].replace("import os", "import os, tvm")
        + f"tvm.script.from_source({text[text.index('@I.ir_module') :]!r})\n"
    )
    subprocess.run([sys.executable, victim], capture_output=True, cwd=tmp_path, check=False)
    assert canary.exists()
    canary.unlink()
    (outcome,) = attempt([Attack("victim", victim.read_bytes())]).values()
    assert outcome.refused
    assert not canary.exists()
