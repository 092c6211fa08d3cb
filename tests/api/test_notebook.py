"""Results in notebooks, and the cell magic in a real IPython shell."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import tvm

import relax_lint
from relax_lint.notebook import judged_cell
from tests.memory.programs import HEADER, SYMBOLIC

EXAMPLE = "examples/storage_overflow.py"


class _Balanced(HTMLParser):
    """Fails on a tag that is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        """Closed at once."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_report_and_a_check_show_themselves() -> None:
    report = relax_lint.check(EXAMPLE)
    (finding,) = report.findings
    for shown in (report._repr_html_(), finding._repr_html_()):
        _Balanced(shown)
        assert "warning[RLX101]" in shown
        assert "m &lt;= 4" in shown
    assert "<b>1 finding</b>" in report._repr_html_()
    assert json.loads(finding.to_json())["safe_when"] == "m <= 4"
    assert json.loads(report.to_json())["checks"][0]["path"] == EXAMPLE


def test_names_of_others_are_text() -> None:
    module = tvm.IRModule({"a<b": tvm.script.from_source(SYMBOLIC.removeprefix(HEADER))["main"]})
    shown = relax_lint.memory(module)._repr_html_()
    assert "a&lt;b" in shown
    assert "a<b" not in shown


def test_totals_by_name_with_ranges_and_bars() -> None:
    module = tvm.script.from_source(SYMBOLIC.removeprefix(HEADER))
    found = relax_lint.memory(module, {"n": (1, 1000)})
    assert found == relax_lint.memory(module, {"n": range(1, 1001)})
    total = found["main"]
    assert total is found[0]
    assert total.over_range["peak_live"].maximum == 4000
    assert json.loads(total.to_json())["over_range"]["peak_live"]["at"] == {"n": 1000}
    shown = total._repr_html_()
    _Balanced(shown)
    assert "at most 4,000 bytes (3.906 KiB), at n = 1000" in shown
    assert shown.count("<rect") >= 4
    at = relax_lint.memory(module, {"n": 128})["main"].peak_live
    assert at is not None
    assert at.value == 1000
    with pytest.raises(KeyError, match="no function is named `other`; there are: main"):
        found["other"]
    with pytest.raises(ValueError, match="step 1"):
        relax_lint.memory(module, {"n": range(1, 9, 2)})


def test_the_magic_judges_a_cell_and_does_not_run_it(tmp_path: Path) -> None:
    shells = pytest.importorskip("IPython.core.interactiveshell")
    shell = shells.InteractiveShell()
    shell.run_line_magic("load_ext", "relax_lint")
    body = Path(EXAMPLE).read_text(encoding="utf-8")
    body = body[body.index("@I.ir_module") :]
    ran = tmp_path / "ran"
    report = shell.run_cell_magic("relax_lint", "RLX101", f"{body}\nopen({str(ran)!r}, 'w')\n")
    (finding,) = report.findings
    assert finding.rule == "RLX101"
    assert finding.location is not None
    # The line of the magic is the first one of the cell.
    assert finding.location.line == body.splitlines().index("        alloc = " + _after(body)) + 2
    assert not ran.exists()


def _after(body: str) -> str:
    (line,) = (line for line in body.splitlines() if line.startswith("        alloc = "))
    return line.removeprefix("        alloc = ")


SNIPPET = """
import relax_lint

report: relax_lint.Report = relax_lint.check("model.py")
totals = relax_lint.memory("model.py", {"n": (1, 2048), "m": 4})
one: relax_lint.MemoryTotals = totals["main"]
peak = one.peak_live
size: int | None = None if peak is None else peak.value
most: int = one.over_range["peak_live"].maximum
text: str = report.to_json() + totals.to_json() + one.to_json()
check: relax_lint.Check = report.findings[0]
again: relax_lint.MemoryTotals = report["main"]
"""


def test_a_cell_that_is_no_text_is_judged() -> None:
    report = judged_cell("RLX101", f"x = '\ud800'\n{SYMBOLIC.removeprefix(HEADER)}")
    assert {check.rule for check in report.checks} == {"RLX101"}


def test_the_types_of_a_user_hold(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    snippet = tmp_path / "user.py"
    snippet.write_text(SNIPPET, encoding="utf-8")
    # Its own: with these options what `make lint` keeps would be looked at anew, here and there.
    kept = Path(__file__).parents[2] / ".mypy_cache" / "user"
    options = ["--strict", "--follow-imports=silent", "--cache-dir", str(kept)]
    command = [sys.executable, "-m", "mypy", *options, str(snippet)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout
