"""`relax-lint doctor` judges a known module in a worker and says what it found."""

from __future__ import annotations

from pathlib import Path

import pytest

from relax_lint import __version__, cli
from relax_lint.commands import doctor, judging
from relax_lint.vm import tested, versions
from tests.cli.conftest import FINE


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
    monkeypatch.setattr(tested, "TESTED", ("0.1",))
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


def test_an_untested_tvm_is_one_warning_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judging, "TESTED", ("0.1",))
    judging._warn_of_untested.cache_clear()
    monkeypatch.setattr(tested, "TESTED", ("0.1",))
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(FINE, encoding="utf-8")
    assert cli.main(["--no-cache", "a.py", "b.py"]) == 0
    assert capsys.readouterr().err == (
        f"relax-lint: warning: TVM {versions.VERSION} is not a tested version (0.1): "
        "`relax-lint doctor` shows what works\n"
    )


@pytest.mark.parametrize(
    ("version", "known"), [("0.27.0.post1", True), ("0.26", True), ("0.270.1", False), ("0.27.dev12", False)]
)
def test_which_versions_are_tested(version: str, known: bool) -> None:
    assert tested.is_tested(version) == known
