"""A package of rules that cannot be used is named, with the line that is to blame."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from relax_lint import cli, rule

GROUP = rule.ENTRY_POINT_GROUP


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module that is the only one with rules; the tests write it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    entries = EntryPoints([EntryPoint("mine", "others_rules", GROUP)])
    monkeypatch.setattr(rule, "_entry_points", lambda: entries)
    rule.load_rules.cache_clear()
    yield tmp_path / "others_rules.py"
    sys.modules.pop("others_rules", None)
    rule.load_rules.cache_clear()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "import os\n\nimport there_is_no_such_module\n",
            "cannot be imported: ModuleNotFoundError: No module named 'there_is_no_such_module' ({}:3)",
        ),
        (
            "RULES = (\n",
            "cannot be imported: SyntaxError: '(' was never closed (others_rules.py, line 1) ({}:1)",
        ),
        ("import sys\nsys.exit('no')\n", "cannot be imported: SystemExit: no ({}:2)"),
        ("RULES = ('RLX1',)\n", "has a str in `RULES` that is not a `Rule`"),
        (
            "",
            "cannot be imported: AttributeError: module 'others_rules' has no attribute 'RULES'",
        ),
    ],
)
def test_what_is_wrong_with_it(
    package: Path, text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    package.write_text(text, encoding="utf-8")
    assert cli.main(["rules"]) == 2
    expected = f"relax-lint: error: the rule package `others_rules` {told.format(package)}\n"
    assert capsys.readouterr().err == expected


def test_doctor_says_it_too(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package.write_text("1 / 0\n", encoding="utf-8")
    assert cli.main(["doctor"]) == 1
    assert f"ZeroDivisionError: division by zero ({package}:1)" in capsys.readouterr().out
