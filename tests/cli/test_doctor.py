"""`relax-lint doctor` judges a known module in a worker and says what it found."""

from __future__ import annotations

from pathlib import Path

import pytest

from relax_lint import __version__, cli
from relax_lint.commands import doctor
from relax_lint.vm import versions


def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    lines = capsys.readouterr().out.splitlines()
    return {line.split(" ", 1)[0]: line.split(" ", 1)[1].strip() for line in lines}


def test_an_installation_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RELAX_LINT_CACHE_DIR", str(tmp_path / "cache"))
    assert cli.main(["doctor"]) == 0
    found = rows(capsys)
    assert found["relax-lint"].startswith(__version__)
    assert found["TVM"] == f"{versions.VERSION}, works"
    assert found["cache"] == f"{tmp_path / 'cache'}: empty"
    assert found["lsp"].startswith("pygls ")


def test_an_untested_tvm_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "TESTED", ("0.1",))
    assert cli.main(["doctor"]) == 0
    assert rows(capsys)["TVM"] == f"{versions.VERSION}, works; not a tested version (0.1)"


def test_a_verdict_that_is_missing_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "_PROGRAM", doctor._PROGRAM.replace(b"R.shape([16])", b"R.shape([m * 4])"))
    assert cli.main(["doctor"]) == 1
    assert "does not work: a known verdict is missing" in rows(capsys)["TVM"]


def test_a_module_that_cannot_be_read_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "_PROGRAM", doctor._PROGRAM.replace(b"R.shape([16])", b"R.shape("))
    assert cli.main(["doctor"]) == 1
    assert "does not work: syntax error" in rows(capsys)["TVM"]
