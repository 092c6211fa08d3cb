"""`relax_lint.check` and `relax_lint.assert_memory_safe`: what they take and what they give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import relax_lint
from relax_lint.settings.config import Config, ConfigError
from tests.api.programs import FINE, OVERFLOW, parsed


@pytest.fixture
def overflow(tmp_path: Path) -> Path:
    path = tmp_path / "overflow.py"
    path.write_text(OVERFLOW, encoding="utf-8")
    return path


def conditions(target: Any, config: Any = None) -> list[str | None]:
    report = relax_lint.check(target, config)
    return [check.safe_when for check in report.findings if check.rule == "RLX101"]


def test_every_kind_of_target(overflow: Path) -> None:
    module = parsed(OVERFLOW)
    for target in (overflow, [str(overflow)], module, module["main"]):
        assert conditions(target) == ["m <= 4"], target


def test_several_paths_are_one_report(overflow: Path, tmp_path: Path) -> None:
    fine = tmp_path / "fine.py"
    fine.write_text(FINE, encoding="utf-8")
    report = relax_lint.check([fine, overflow])
    assert [file.input.path for file in report.files] == [str(fine), str(overflow)]
    assert {check.path for check in report.findings} == {str(overflow)}


@pytest.mark.parametrize("target", [None, 3, ["a.py", 3], {"a.py"}])
def test_other_targets_are_a_type_error(target: Any) -> None:
    with pytest.raises(TypeError):
        relax_lint.check(target)


def test_every_form_of_configuration(tmp_path: Path) -> None:
    module = parsed(OVERFLOW)
    file = tmp_path / "settings.toml"
    file.write_text('[tool.relax-lint]\nignore = ["RLX101"]\n', encoding="utf-8")
    for config in (Config(ignore=("RLX101",)), {"ignore": ["RLX101"]}, file, str(file)):
        assert conditions(module, config) == [], config
    assert conditions(module, {}) == ["m <= 4"]


def test_settings_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="config: unknown key `pge-size`; did you mean `page-size`"):
        relax_lint.check(parsed(FINE), {"pge-size": 1})
    with pytest.raises(ConfigError, match="No such file"):
        relax_lint.check(parsed(FINE), tmp_path / "missing.toml")


def test_an_assertion_shows_the_findings() -> None:
    module = parsed(OVERFLOW)
    with pytest.raises(AssertionError) as failure:
        relax_lint.assert_memory_safe(module)
    head, _, rest = str(failure.value).partition("\n\n")
    assert head == "1 memory-safety finding"
    assert rest.startswith("warning[RLX101] storage-overflow: tensor `y` needs `4*m` bytes")
    assert "safe iff m <= 4; naive fails from m = 5" in rest


def test_the_level_of_an_assertion() -> None:
    module = parsed(OVERFLOW)
    relax_lint.assert_memory_safe(module, level="error")
    relax_lint.assert_memory_safe(module, {"ignore": ["RLX101"]})
    relax_lint.assert_memory_safe(parsed(FINE), level="note")
    with pytest.raises(ValueError, match="not 'fatal'"):
        relax_lint.assert_memory_safe(module, level="fatal")


def test_what_cannot_be_read_is_not_safe(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"error\[RLX901\] parse-error: cannot be read"):
        relax_lint.assert_memory_safe(tmp_path / "missing.py")


def test_the_types_of_results_are_there_for_annotations() -> None:
    report = relax_lint.check([])
    assert isinstance(report, relax_lint.Report)
    assert relax_lint.Check.__name__ in relax_lint.__all__
    assert relax_lint.MemoryTotals.__name__ in relax_lint.__all__
