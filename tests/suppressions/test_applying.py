"""Which findings a comment accepts, and what is said of comments of no use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import relax_lint
from relax_lint.output.summary import fails
from relax_lint.results.report import FileResult
from relax_lint.results.verdict import Severity
from relax_lint.settings.config import Config
from tests.command import said

from .programs import MODULE, OVERFLOW, commented

UNKNOWN = OVERFLOW.replace("R.shape([16])", "R.shape([SIZE])")
FILES = {
    "code": commented("# relax-lint: ignore[RLX101]"),
    "name": commented("# relax-lint: ignore[storage-overflow] -- it is meant"),
    "beginning": commented("# relax-lint: ignore[RLX1]"),
    "file": commented("# relax-lint: ignore-file[RLX101] -- generated", 0),
    "above": OVERFLOW.replace("        alloc =", "        # relax-lint: ignore[RLX101]\n        alloc ="),
    "inside": OVERFLOW.replace("alloc_tensor(storage,", "alloc_tensor(  # relax-lint: ignore[RLX101]\n  storage,"),
    "crlf": commented("# relax-lint: ignore[RLX101]").replace("\n", "\r\n"),
    "elsewhere": commented("# relax-lint: ignore[RLX101]", 9),
    "other": commented("# relax-lint: ignore[RLX102]"),
    "half": commented("# relax-lint: ignore[RLX101, RLX102] -- both"),
    "unknown": commented("# relax-lint: ignore[RLX101, storage-overfull]"),
    "never": commented("# relax-lint: ignore-file[RLX101, RLX904, RLX905]", 0),
    "wide": commented("# relax-lint: ignore-file[RLX, RLX9]", 0),
    "malformed": commented("# relax-lint: ignore RLX101"),
    "off": commented("# relax-lint: ignore[RLX101, RLX207]"),
    "idle": commented("# relax-lint: ignore[RLX101, RLX105, over-budget]"),
    "unread": commented("# relax-lint: ignore-file[RLX902] -- generated", 0, UNKNOWN),
    "unread_wide": commented("# relax-lint: ignore-file[RLX9]", 0, UNKNOWN),
    "unread_line": commented("# relax-lint: ignore[RLX101]", text=UNKNOWN),
    "broken": commented("# relax-lint: ignore-file[RLX901]", 0, OVERFLOW + "(\n"),
    "literal": f'import tvm\nfrom tvm.script import ir as I, relax as R, tirx as T\ntvm.script.from_source("""\n{MODULE}""")\n'.replace(
        "([m]), R.dtype(\"float32\"))", "([m]), R.dtype(\"float32\"))  # relax-lint: ignore[RLX101]"
    ),
}  # fmt: skip
MARKDOWN = f"# page\n\n```python\n{FILES['code']}```\n"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FileResult]:
    folder = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        (folder / f"{name}.py").write_bytes(text.encode())
    (folder / "page.md").write_text(MARKDOWN)
    report = relax_lint.check(str(folder), Config(jobs=2))
    return {Path(result.input.path).stem: result for result in report.files}


def open_findings(result: FileResult) -> list[tuple[str, str]]:
    return [
        (check.rule, check.message)
        for check in result.checks
        if check.severity is not Severity.NONE and not check.suppressed
    ]


@pytest.mark.parametrize(
    "name", ["code", "name", "beginning", "file", "above", "inside", "crlf", "literal", "page"]
)
def test_the_finding_is_accepted_and_stays_in_the_report(results: dict[str, FileResult], name: str) -> None:
    result = results[name]
    assert open_findings(result) == []
    (check,) = [check for check in result.checks if check.suppressed]
    assert (check.rule, check.severity, check.safe_when) == ("RLX101", Severity.WARNING, "m <= 4")
    assert check.suppressed_by is not None
    reasons = {"name": "it is meant", "file": "generated"}
    assert (check.suppressed_by.kind, check.suppressed_by.reason) == ("comment", reasons.get(name, ""))
    assert not fails(relax_lint.results.report.Report((result,), None), Severity.NOTE)


@pytest.mark.parametrize(
    ("name", "complaints", "accepted"),
    [
        ("elsewhere", ["this comment suppresses nothing: `RLX101`"], False),
        ("other", ["this comment suppresses nothing: `RLX102`"], False),
        ("half", ["unused in this comment: `RLX102`"], True),
        ("unknown", ["unknown rule `storage-overfull`; did you mean `storage-overflow`?"], True),
        ("never", ["no comment suppresses `RLX904`", "no comment suppresses `RLX905`"], True),
        (
            "wide",
            [f"the prefix `{code}` is too broad: write the whole code" for code in ("RLX", "RLX9")],
            False,
        ),
        (
            "malformed",
            [
                "this comment cannot be understood: expected `# relax-lint: ignore[CODE]`, with a reason after "
                "` -- ` if there is one"
            ],
            False,
        ),
        # RLX207 is off unless it is selected: nobody knows whether it would have found something.
        ("off", [], True),
    ],
)
def test_comments_of_no_use(
    results: dict[str, FileResult], name: str, complaints: list[str], accepted: bool
) -> None:
    found = open_findings(results[name])
    assert [message for rule, message in found if rule == "RLX905"] == complaints
    assert ("RLX101" in {rule for rule, _ in found}) is not accepted


def test_a_block_that_nobody_looked_at_is_never_accepted_in_silence(results: dict[str, FileResult]) -> None:
    for name, rule in (("unread", "RLX902"), ("broken", "RLX901")):
        result = results[name]
        # What could be read was judged; the part that could not is accepted, and that is said.
        assert {found for found, _ in open_findings(result)} <= {"RLX101"}
        assert result.input.status == "checked"
        assert any(f"is not analysed, and {rule} is suppressed" in note for note in result.input.notes)
    assert {rule for rule, _ in open_findings(results["unread_wide"])} >= {"RLX902", "RLX905"}


def test_nothing_is_unused_where_something_could_not_be_looked_at(results: dict[str, FileResult]) -> None:
    assert [rule for rule, _ in open_findings(results["unread_line"])] == ["RLX902"]


def test_the_fix_leaves_what_is_needed(results: dict[str, FileResult]) -> None:
    (check,) = [check for check in results["half"].checks if check.rule == "RLX905"]
    assert [edit.text for edit in check.fixes[0].edits] == ["# relax-lint: ignore[RLX101] -- both"]
    assert check.fixes[0].edits[0].location == check.location


def test_a_rule_without_anything_to_judge_by_is_not_missed(results: dict[str, FileResult]) -> None:
    # RLX601 needs a budget, RLX105 an allocator that rounds and none that does not.
    assert open_findings(results["idle"]) == []


def test_rules_that_were_not_run_are_not_missed(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(commented("# relax-lint: ignore[RLX101, RLX2]", 9))
    config = Config(select=("RLX102", "RLX905"))
    assert {check.rule for check in relax_lint.check(str(path), config).checks} == {"RLX102"}
    (check,) = [
        check
        for check in relax_lint.check(str(path), replace(config, select=("RLX101", "RLX905"))).checks
        if check.rule == "RLX905"
    ]
    assert check.message == "unused in this comment: `RLX101`"


def test_fixes_remove_what_is_of_no_use_and_leave_what_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    needed = commented("# relax-lint: ignore[RLX101] -- mine")
    both = needed.replace("[RLX101]", "[RLX101, RLX102]")
    path.write_text(
        both.replace("        m = T.int64()\n", "        # relax-lint: ignore[RLX2]\n        m = T.int64()\n")
    )
    assert said(tmp_path, "check", "--fix", "--quiet", str(path)).returncode == 0
    assert path.read_text() == needed
