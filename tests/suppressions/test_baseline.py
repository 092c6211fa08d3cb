"""The baseline: what it accepts, when it is stale, how it is written."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from relax_lint.output.summary import fails
from relax_lint.results.check import Check
from relax_lint.results.identity import identities
from relax_lint.results.report import FileResult, InputStatus, Report
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.settings.config import Config
from relax_lint.suppressions.baseline import (
    BaselineError,
    Entry,
    entries_of,
    read_baseline,
    write_baseline,
)
from relax_lint.suppressions.policy import stale_entries, with_baseline
from tests.command import said

from .programs import OVERFLOW

CHECK = Check(
    *("RLX101", "storage-overflow", Verdict.NEEDS_RUNTIME_CHECK, Severity.WARNING),
    *("too large", "a.py", "Module", "main"),
    binding="alloc",
)
FINE = replace(CHECK, verdict=Verdict.ALWAYS_FINE, severity=Severity.NONE)
UNREAD = replace(
    CHECK, rule="RLX901", name="parse-error", severity=Severity.ERROR, function=None, binding=None
)


def report(*checks: Check, path: str = "a.py") -> Report:
    moved = tuple(replace(check, path=path) for check in checks)
    return Report((FileResult(InputStatus(path, 1, "checked"), moved),), None)


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return "accepted.json"


def accepted(found: Report, baseline: str, **options: object) -> Report:
    return with_baseline(found, replace(Config(baseline=baseline), **options))  # type: ignore[arg-type]


def test_the_ids_are_those_of_the_json_report(baseline: str) -> None:
    (entry,) = entries_of(report(FINE, CHECK), "")
    assert entry.id == identities([replace(FINE, path="a.py"), CHECK])[1]
    assert (entry.path, entry.rule, entry.verdict, entry.where) == (
        *("a.py", "RLX101", "needs-runtime-check", "Module.main: alloc"),
    )


def test_what_was_accepted_does_not_fail_and_what_is_new_does(baseline: str) -> None:
    write_baseline(baseline, entries_of(report(CHECK), ""))
    found = accepted(report(CHECK), baseline)
    assert [check.suppressed_by.kind for check in found.checks if check.suppressed_by] == ["baseline"]
    assert not fails(found, Severity.NOTE)
    more = accepted(report(CHECK, replace(CHECK, binding="other")), baseline)
    assert [check.suppressed for check in more.checks] == [True, False]
    assert fails(more, Severity.WARNING)


def test_a_verdict_that_became_worse_was_not_accepted(baseline: str) -> None:
    write_baseline(baseline, entries_of(report(CHECK), ""))
    worse = replace(CHECK, verdict=Verdict.ALWAYS_WRONG, severity=Severity.ERROR)
    assert fails(accepted(report(worse), baseline), Severity.ERROR)
    write_baseline(baseline, entries_of(report(worse), ""))
    assert not fails(accepted(report(CHECK), baseline), Severity.NOTE)


def test_paths_are_seen_from_the_folder_of_the_baseline(baseline: str, tmp_path: Path) -> None:
    write_baseline(baseline, entries_of(report(CHECK, path="sub/a.py"), ""))
    (tmp_path / "sub").mkdir()
    os.chdir("sub")
    for path in ("a.py", "./a.py", str(tmp_path / "sub" / "a.py")):
        found = accepted(report(CHECK, path=path), f"../{baseline}")
        assert not fails(found, Severity.NOTE)
        assert found.stale == ()


def test_it_is_stale_when_the_finding_is_gone(baseline: str) -> None:
    write_baseline(baseline, entries_of(report(CHECK), ""))
    for gone in (report(FINE), report(), report(replace(CHECK, suppressed=True))):
        found = accepted(gone, baseline)
        assert found.stale == ("a.py: RLX101 in Module.main: alloc",)
        assert fails(found, Severity.ERROR)


def test_it_is_not_stale_where_nobody_looked(baseline: str) -> None:
    write_baseline(baseline, entries_of(report(CHECK), ""))
    Path("a.py").touch()
    assert accepted(report(path="b.py"), baseline).stale == ()
    assert accepted(report(UNREAD), baseline).stale == ()
    assert accepted(report(), baseline, select=("RLX2",)).stale == ()
    assert accepted(report(), baseline, per_file_ignores=(("a.py", ("RLX1",)),)).stale == ()
    Path("a.py").unlink()
    assert len(accepted(report(path="b.py"), baseline).stale) == 1


def test_it_is_written_in_order_and_a_line_for_each(baseline: str) -> None:
    entries = [Entry("b.py", "RLX1", "", "2", "x"), Entry("a.py", "RLX2", "é", "1", "x")]
    write_baseline(baseline, [*entries, entries[0]])
    text = Path(baseline).read_text(encoding="utf-8")
    assert text == (
        '{\n  "version": 1,\n  "findings": [\n'
        '    {"id": "1", "path": "a.py", "rule": "RLX2", "verdict": "x", "where": "é"},\n'
        '    {"id": "2", "path": "b.py", "rule": "RLX1", "verdict": "x", "where": ""}\n'
        "  ]\n}\n"
    )
    assert read_baseline(baseline) == (entries[1], entries[0])
    write_baseline(baseline, [])
    assert json.loads(Path(baseline).read_text()) == {"version": 1, "findings": []}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "the baseline accepted.json does not exist: `--write-baseline` creates it"),
        ("", "accepted.json: not a baseline: "),
        ('{"version": 1,\n<<<<<<< HEAD\n', "accepted.json: not a baseline: "),
        ("[]", "accepted.json: not a baseline of relax-lint"),
        ('{"version": 2, "findings": []}', "accepted.json: written by a newer version of relax-lint"),
        ('{"version": 1, "findings": [{"id": 3}]}', 'accepted.json: not an entry of a baseline: {"id": 3}'),
    ],
)
def test_what_is_no_baseline(baseline: str, text: str | None, words: str) -> None:
    if text is not None:
        Path(baseline).write_text(text)
    with pytest.raises(BaselineError) as error:
        read_baseline(baseline)
    assert str(error.value).startswith(words)


def test_stale_entries_are_those_that_can_be_removed(baseline: str) -> None:
    entries = entries_of(report(CHECK, replace(CHECK, binding="other")), "")
    assert stale_entries(report(CHECK), entries, Config(baseline=baseline)) == entries[1:]


def test_the_command(baseline: str, tmp_path: Path) -> None:
    def call(*arguments: str) -> CompletedProcess[str]:
        return said(Path.cwd(), *arguments)

    (tmp_path / "model.py").write_text(OVERFLOW)
    unnamed = call("--write-baseline", "model.py")
    assert (unnamed.returncode, unnamed.stderr) == (
        *(
            2,
            "relax-lint: error: `--write-baseline` needs `--baseline FILE`, or `baseline` in the configuration\n",
        ),
    )
    (tmp_path / "pyproject.toml").write_text(f'[tool.relax-lint]\nbaseline = "{baseline}"\n')
    missing = call("model.py")
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    written = call("--write-baseline", "model.py")
    assert (written.returncode, written.stderr) == (
        0,
        f"{tmp_path / baseline}: 1 finding accepted, 0 removed\n",
    )
    passed = call("model.py")
    assert (passed.returncode, passed.stderr) == (0, "")
    assert "-->" not in passed.stdout
    assert "1 finding suppressed" in passed.stdout
    # Moved lines are the same finding.
    (tmp_path / "model.py").write_text("# a line\n" + OVERFLOW)
    assert call("model.py").returncode == 0
    # The finding, and all Relax, is gone.
    (tmp_path / "model.py").write_text("import os\n")
    stale = call("--quiet", "model.py")
    assert (stale.returncode, stale.stdout) == (1, "")
    assert stale.stderr.splitlines() == [
        f"relax-lint: error: {tmp_path / baseline} is stale: 1 of its findings no longer occur; "
        "`--update-baseline` removes them",
        "  model.py: RLX101 in Module.main: alloc",
    ]
    updated = call("--update-baseline", "model.py")
    assert (updated.returncode, updated.stderr) == (
        0,
        f"{tmp_path / baseline}: 0 findings accepted, 1 removed\n",
    )
    assert call("model.py").returncode == 0
