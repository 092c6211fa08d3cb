"""`--compare`: what grew since an earlier report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.memory.conftest import Memory
from tests.memory.programs import BRANCHES, SYMBOLIC
from tests.report_schema import report_validator

GROWN = SYMBOLIC.replace("R.shape([4 * n])", "R.shape([5 * n])")


_REPORTS: dict[tuple[str, ...], str] = {}


def _earlier(memory: Memory, module: str, *options: str) -> None:
    """Puts the report of a module into old.json."""
    key = (module, *options)
    if key not in _REPORTS:
        _REPORTS[key] = memory(module, *options, "--output-format", "json").out
    Path("old.json").write_text(_REPORTS[key], encoding="utf-8")


def test_the_same_module_has_not_changed(memory: Memory) -> None:
    _earlier(memory, SYMBOLIC)
    found = memory(SYMBOLIC, "--compare", "old.json", "--fail-above", "0%")
    assert "compared with old.json\n  no total has changed\n" in found.out
    assert found.code == 0


def test_growth_at_a_value(memory: Memory) -> None:
    # 1000 + 4*n bytes were planned, now 1000 + 5*n: at n = 1000 that is 6000 after 5000 bytes.
    _earlier(memory, SYMBOLIC)
    options = ("--compare", "old.json", "--bind", "n=1000", "--output-format", "json")
    report = memory(GROWN, *options, "--fail-above", "19%").report
    report_validator().validate(report)
    planned = report["comparison"]["changes"][0]
    assert (planned["total"], planned["old"], planned["new"]) == ("planned", 5000, 6000)
    assert (planned["growth"], planned["exceeds"]) == (0.2, True)
    # pooled: from one page for 4000 bytes (4096, the page of the first storage) to another one of 8192.
    assert memory(GROWN, *options, "--fail-above", "200%").code == 0


def test_formulas_are_compared_by_their_terms(memory: Memory) -> None:
    _earlier(memory, SYMBOLIC)
    allowed = memory(GROWN, "--compare", "old.json", "--fail-above", "25%", "--output-format", "json").report
    changes = {change["total"]: change for change in allowed["comparison"]["changes"]}
    assert (changes["planned"]["old"], changes["planned"]["new"]) == ("4*n + 1000", "5*n + 1000")
    assert not changes["planned"]["exceeds"]
    refused = memory(GROWN, "--compare", "old.json", "--fail-above", "24%")
    planned = next(
        line for line in refused.out.splitlines() if "4*n + 1000 bytes -> 5*n + 1000 bytes" in line
    )
    assert planned.startswith("    planned ")
    assert planned.endswith(" may grow by more than 24 %")
    assert refused.code == 1


def test_numbers_of_another_binding_are_not_compared(memory: Memory) -> None:
    _earlier(memory, SYMBOLIC, "--bind", "n=2000")
    found = memory(SYMBOLIC, "--compare", "old.json", "--bind", "n=1", "--fail-above", "0")
    assert "no total has changed" in found.out


@pytest.mark.parametrize("output_format", ["text", "tvm"])
def test_a_bound_that_was_raised(memory: Memory, output_format: str) -> None:
    _earlier(memory, SYMBOLIC)
    options = ("--compare", "old.json", "--fail-above", "50%", "--output-format", output_format)
    assert memory(SYMBOLIC, *options).code == 0
    found = memory(SYMBOLIC.replace("2048", "4096"), *options)
    # 1000 bytes and 4 for each of n: 9,192 and 17,384.
    said = " ".join((found.out + found.err).split())
    assert "planned, at most 9,192 bytes (8.977 KiB) -> 17,384 bytes (16.98 KiB) +89.1 % grew by more" in said
    assert found.code == 1


def test_formats_without_a_place_for_it_tell_it_beside_them(memory: Memory) -> None:
    _earlier(memory, SYMBOLIC)
    options = (
        "--compare",
        "old.json",
        "--fail-above",
        "5%",
        "--max-memory",
        "500B",
        "--output-format",
        "tvm",
    )
    found = memory(GROWN, *options)
    assert "compared with old.json" in found.err
    assert "error[RLX601]" in found.err
    assert found.out.startswith("Memory usage estimation:\n")
    assert found.code == 1


def test_functions_that_come_and_go(memory: Memory) -> None:
    _earlier(memory, SYMBOLIC)
    found = memory(SYMBOLIC + BRANCHES.split("\n\n\n", 1)[1], "--compare", "old.json", "--fail-above", "5%")
    assert "new: Branching.main (model.py)" in found.out
    assert "  all functions\n" in found.out
    assert found.code == 1
    gone = memory(BRANCHES, "--compare", "old.json")
    assert "gone: Module.main (model.py)" in gone.out


def _without_planned(report: dict[str, Any]) -> None:
    del report["memory"][0]["planned"]


def test_what_is_no_report(memory: Memory) -> None:
    _earlier(memory, SYMBOLIC)
    report = json.loads(Path("old.json").read_text(encoding="utf-8"))
    _without_planned(report)
    Path("partial.json").write_text(json.dumps(report), encoding="utf-8")
    Path("text.json").write_text("no JSON", encoding="utf-8")
    Path("list.json").write_text("[1]", encoding="utf-8")
    for name in ("partial.json", "text.json", "list.json"):
        found = memory("print(1)\n", "--compare", name)
        assert (found.code, found.err) == (
            2,
            f"relax-lint: error: {name} is not a JSON report of `relax-lint memory`\n",
        )
    missing = memory("print(1)\n", "--compare", "missing.json")
    assert (missing.code, "cannot read missing.json" in missing.err) == (2, True)


@pytest.mark.parametrize(
    "options", [("--fail-above", "5%"), ("--compare", "old.json", "--fail-above", "much")]
)
def test_what_is_no_limit(memory: Memory, options: tuple[str, ...]) -> None:
    Path("old.json").write_text('{"memory": []}', encoding="utf-8")
    assert memory("print(1)\n", *options).code == 2
