"""The SARIF output against the schema of the standard, and against what code scanning needs."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from relax_lint.output import sarif
from relax_lint.results.check import Check, Edit, Fix, Related, Suppression
from relax_lint.results.report import Report
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import load_rules
from tests.output.builders import fine, overflow, place, report
from tests.published_schemas import SARIF, published_schema

VALIDATOR = jsonschema.Draft7Validator(published_schema(SARIF), format_checker=jsonschema.FormatChecker())

WITH_ORIGIN = overflow(origins=(Related("`m` comes from parameter `x`", place(6, 14, 40)),))
FIX = Fix("make the storage larger", "unsafe", (Edit(place(8, 46, 48), "4 * m"),))


def rendered(one: Report) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(sarif.render_sarif(one))
    VALIDATOR.validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def results(*checks: Check) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rendered(report(*checks))["results"]
    return found


def test_every_form_of_finding_is_valid() -> None:
    unplaced = overflow(location=None, related=(), module=None, function=None, path="model.json")
    everything = [WITH_ORIGIN, unplaced, overflow(fixes=(FIX,)), overflow(suppressed=True)]
    everything += [overflow(rule=code, name=rule.name) for code, rule in load_rules().items()]
    assert len(results(*everything)) == len(everything)
    assert rendered(Report((), None))["results"] == []


def test_only_findings_are_results() -> None:
    assert [result["ruleId"] for result in results(fine(), overflow(), fine())] == ["RLX101"]


def test_the_help_of_a_rule_is_its_page() -> None:
    (rule,) = rendered(report(overflow()))["tool"]["driver"]["rules"]
    page = load_rules()["RLX101"].page.read_text(encoding="utf-8")
    assert rule["help"] == {"text": page, "markdown": page}
    assert rule["fullDescription"]["text"].startswith("`R.memory.alloc_tensor` and `R.vm.alloc_tensor` put")


def test_descriptions_of_all_rules_are_within_the_limits_of_github() -> None:
    checks = [overflow(rule=code, name=rule.name) for code, rule in load_rules().items()]
    for rule in rendered(report(*checks))["tool"]["driver"]["rules"]:
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["name"]) <= 255
        assert len(rule["properties"]["tags"]) <= 10


def test_each_result_names_its_rule() -> None:
    other = overflow(rule="RLX103", name="size-overflow")
    run = rendered(report(other, overflow(), other))
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == ["RLX103", "RLX101", "RLX103"]


def test_the_code_flow_leads_from_the_symbol_over_the_storage_to_the_tensor() -> None:
    (result,) = results(WITH_ORIGIN)
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    seen = [
        (step["location"]["physicalLocation"]["region"]["startLine"], step["location"]["message"]["text"])
        for step in steps
    ]
    assert seen == [(6, "`m` comes from parameter `x`"), (8, "storage of 16 bytes"), (9, "needs `4*m` bytes")]


def test_paths_are_told_from_the_root_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    (folder / "a b%.py").touch()
    (folder / "link.py").symlink_to("a b%.py")
    outside = tmp_path.parent / f"{tmp_path.name}.py"
    outside.touch()
    monkeypatch.chdir(folder)

    def artifact(path: str) -> dict[str, str]:
        (result,) = results(overflow(path=path, location=replace(place(1, 1, 2), path=path)))
        found: dict[str, str] = result["locations"][0]["physicalLocation"]["artifactLocation"]
        return found

    inside = {"uri": "deep/er/a%20b%25.py", "uriBaseId": "%SRCROOT%"}
    for path in ("a b%.py", str(folder / "a b%.py"), "link.py"):
        assert artifact(path) == inside
    assert artifact(str(outside)) == {"uri": outside.resolve().as_uri()}
    assert artifact("<stdin>") == {"uri": "%3Cstdin%3E"}
    assert artifact(os.fsdecode(b"\xff.py")) == {"uri": "%FF.py"}


def test_what_has_no_position_stands_at_the_start_of_its_file() -> None:
    (result,) = results(overflow(location=None, related=()))
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
    assert "codeFlows" not in result


def test_fingerprints_do_not_move_with_lines() -> None:
    before = [overflow(), overflow()]
    after = [replace(check, location=place(50, 1, 9)) for check in before]
    prints = [[result["partialFingerprints"] for result in results(*checks)] for checks in (before, after)]
    assert prints[0] == prints[1]
    assert prints[0][0] != prints[0][1]


def test_a_fix_deletes_and_inserts() -> None:
    (result,) = results(overflow(fixes=(FIX, Fix("see the page", "display", ()))))
    (fix,) = result["fixes"]
    assert fix["description"]["text"] == "make the storage larger (unsafe)"
    (replacement,) = fix["artifactChanges"][0]["replacements"]
    assert replacement == {
        "deletedRegion": {"startLine": 8, "startColumn": 46, "endLine": 8, "endColumn": 48},
        "insertedContent": {"text": "4 * m"},
    }


def test_suppressed_findings_are_there_with_what_accepts_them() -> None:
    plain, comment, baseline = results(
        overflow(),
        overflow(suppressed=True, suppressed_by=Suppression("comment", "n is 4 here")),
        overflow(suppressed=True, suppressed_by=Suppression("baseline")),
    )
    assert "suppressions" not in plain
    accepted = {"kind": "inSource", "status": "accepted", "justification": "n is 4 here"}
    assert comment["suppressions"] == [accepted]
    assert baseline["suppressions"] == [{"kind": "external", "status": "accepted"}]


def test_untrusted_text_is_no_link_no_placeholder_and_no_control_character() -> None:
    (result,) = results(
        overflow(message="{0} [here](https://example.org) \x1b[31m\udcff", label="", notes=())
    )
    headline = result["message"]["text"].split("\n")[0]
    assert headline == r"{{0}} \[here](https://example.org) \x1b[31m\udcff"


def test_what_is_said_of_files_and_runs_is_a_notification() -> None:
    one = replace(report(overflow(), notes=("read as TVM 0.23",)), notes=("`k` is in no function",))
    (invocation,) = rendered(one)["invocations"]
    said = [notification["message"]["text"] for notification in invocation["toolExecutionNotifications"]]
    assert said == ["model.py: read as TVM 0.23", "`k` is in no function"]


def test_too_many_findings_lose_the_least_severe_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 3)
    error = overflow(severity=Severity.ERROR, verdict=Verdict.ALWAYS_WRONG)
    note = overflow(severity=Severity.NOTE)
    run = rendered(report(note, overflow(suppressed=True), error, note, overflow(), error))
    assert [result["level"] for result in run["results"]] == ["error", "error", "warning"]
    assert all("suppressions" not in result for result in run["results"])
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"].startswith("3 of 6 findings, the least severe, are omitted")


def test_a_log_that_is_too_large_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_COMPRESSED_BYTES", 12_000)
    many = [overflow(binding=f"alloc{number}", message=os.urandom(300).hex()) for number in range(100)]
    text = sarif.render_sarif(report(*many))
    assert len(gzip.compress(text.encode())) <= 12_000
    assert 10 <= len(json.loads(text)["runs"][0]["results"]) < 100
