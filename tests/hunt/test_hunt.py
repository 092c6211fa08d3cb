"""A fixed sample of the campaign: programs are the same for a seed, valid, and can be kept; what is found has a
signature; the reducer keeps it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from relax_lint.replay.modules import load_module
from relax_lint.vm.versions import VERSION
from tools.hunt.campaign import NAMES, Campaign, State
from tools.hunt.generate import generate
from tools.hunt.pipelines import judged_only, pipelines
from tools.hunt.program import Program
from tools.hunt.reduce import candidates, reduced, size
from tools.hunt.signatures import signature
from tools.hunt.stored import read, write
from tools.hunt.writing import text

pytestmark = pytest.mark.skipif(not VERSION.startswith("0.27"), reason="programs are written for TVM 0.27")
SEEDS = range(12)
QUICK = ("cpu", "default", "opt0", "flat")


@pytest.mark.parametrize("seed", SEEDS)
def test_tvm_takes_the_programs(seed: int) -> None:
    program = generate(seed)
    assert load_module(text(program), "script") is not None
    assert generate(seed) == program
    assert read(write(program)) == program


def test_every_pipeline_has_a_name() -> None:
    assert set(NAMES) == {*pipelines(), *judged_only()}


def reply(**more: Any) -> dict[str, Any]:
    return {"pipeline": "cpu", "ends": "same", "findings": [], **more}


def test_signatures() -> None:
    certain = ("FuseOps", "RLX206", "always-wrong")
    as_given = ("", "RLX206", "always-wrong")
    assert signature(reply()) is None
    assert signature(reply(ends="differs")) == ("unforetold", "cpu", "")
    assert signature(reply(ends="differs", findings=[certain])) == ("foretold", *certain)
    assert signature(reply(ends="differs", findings=[as_given])) == ("foretold", "as given", *certain[1:])
    assert signature(reply(findings=[as_given])) is None
    assert signature(reply(findings=[certain])) == ("not confirmed", "FuseOps", "RLX206")
    assert signature(reply(ends="refused", message="E: 5 of v17")) == ("refused", "E: # of #")
    assert signature(reply(ends="timeout")) == ("timeout", "cpu")
    assert signature(reply(alarms=["RLX203", "RLX502"])) == ("false alarm", "RLX203")
    assert signature(reply(alarms=["RLX502"])) == ("certain", "RLX502")


def test_the_reducer_keeps_what_is_asked_for() -> None:
    program = next(p for p in map(generate, range(100)) if "R.cumsum" in text(p) and size(p) > 8)
    small = reduced(program, lambda other: "R.cumsum" in text(other), trials=500)
    assert "R.cumsum" in text(small)
    assert size(small) <= 3
    assert load_module(text(small), "script") is not None


def test_smaller_programs_are_programs() -> None:
    program = generate(3)
    broken = [smaller for smaller in list(candidates(program))[:12] if not is_taken(smaller)]
    assert not broken


def is_taken(program: Program) -> bool:
    return load_module(text(program), "script") is not None


def test_a_campaign_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first = Campaign(tmp_path, 3, QUICK)
    first.run(programs=1)
    assert first.state.programs == 1
    assert first.state.ends["reference: same"] == 1
    again = Campaign(tmp_path, 99, QUICK)
    assert again.state == first.state
    assert again.state.next_seed == 4
    assert State.load(tmp_path / "none.json", 5) == replace(State(), next_seed=5)
