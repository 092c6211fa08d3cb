"""Which tests are chosen for a mutant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.mutants import generating, tests_of
from tools.mutants.tests_of import Lines, Record


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (generating, tests_of):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(tests_of, "LIMIT_S", 30.0)
    path = tmp_path / "code.py"
    path.write_text(
        "def f(a, b):\n    c = a < b\n    return c\n\n\ndef g(a):\n    return not a\n", encoding="utf-8"
    )
    return path


def _record(code: Path) -> Record:
    """Three tests: two of `f`, of which one goes past its first line, and one of both functions."""
    names = ["t.py::one", "t.py::two", "t.py::three"]
    lines = {2: 0b111, 3: 0b110, 7: 0b100}
    return Record(
        names, [5.0, 17.5, 10.0], {"code.py": Lines(tests_of.digest(code), lines, [1, 6])}, {"t.py": "x"}
    )


def test_the_tests_of_a_line_run_the_quickest_first(code: Path) -> None:
    record, found = _record(code), generating.mutants(code)
    compared = next(mutant for mutant in found if mutant.key.operator == "comparison")
    negated = next(mutant for mutant in found if mutant.key.operator == "negation")
    assert record.chosen(compared) == ["t.py::one", "t.py::three"]
    assert record.chosen(negated) == ["t.py::three"]
    assert not record.is_imported(compared)


def test_those_come_first_whose_files_are_called_like_the_module(code: Path) -> None:
    record = _record(code)
    record.names[2] = "test_code.py::three"
    record.test_files["test_code.py"] = "y"
    compared = next(one for one in generating.mutants(code) if one.key.operator == "comparison")
    assert record.chosen(compared) == ["test_code.py::three", "t.py::one"]


@pytest.mark.parametrize("together", [1.0, 20.0])
def test_those_of_the_package_come_before_others(
    together: float, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them where they take no longer than those of a package may, else some of each function."""
    monkeypatch.setattr(tests_of, "NEAR_S", together)
    file = f"relax_lint/model/inner/{code.name}"
    near = [f"tests/model/t.py::two[{n}]" for n in range(9)]
    names = ["tests/rules/t.py::one", *near, "tests/models/t.py::one"]
    record = Record(names, [0.1, *(0.2 + n / 100 for n in range(9)), 0.05], {}, {})
    chosen = record._likeliest((1 << len(names)) - 1, file)
    first = near if together > 2 else near[:4]
    others = ["tests/models/t.py::one", "tests/rules/t.py::one"]
    assert chosen == [*first, *others, *(one for one in near if one not in first)]


def test_several_programs_with_all_that_is_said_of_them_come_where_one_test_of_another_function_does(
    code: Path,
) -> None:
    record = _record(code)
    record.names = [f"tests/strength/t.py::t[a-{n}]" for n in range(6)] + ["t.py::t[1]", "t.py::t[2]"]
    record.seconds = [2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 3.0, 3.1]
    record.files["code.py"].tests = {2: 0b11111111}
    compared = next(one for one in generating.mutants(code) if one.key.operator == "comparison")
    assert [record.names.index(name) for name in record.chosen(compared)] == [0, 1, 2, 3, 6, 4, 5, 7]


def test_a_file_that_changed_has_the_tests_of_all_its_lines(code: Path) -> None:
    record = _record(code)
    code.write_text("\n" + code.read_text(encoding="utf-8"), encoding="utf-8")
    negated = next(one for one in generating.mutants(code) if one.key.operator == "negation")
    assert record.chosen(negated) == ["t.py::one", "t.py::three"]


def test_a_function_that_runs_at_import_is_told(code: Path) -> None:
    record = _record(code)
    record.files["code.py"].imported.append(7)
    negated = next(one for one in generating.mutants(code) if one.key.operator == "negation")
    assert record.is_imported(negated)


def test_a_table_has_the_tests_that_name_its_module_and_those_of_its_users(code: Path) -> None:
    table = code.with_name("table.py")
    table.write_text("SIZES = [1, 2]\n", encoding="utf-8")
    code.with_name("t.py").write_text("from code import f\n", encoding="utf-8")
    code.with_name("v.py").write_text("from table import SIZES\n", encoding="utf-8")
    code.write_text("from table import SIZES\n\n" + code.read_text(encoding="utf-8"), encoding="utf-8")
    record = _record(code)
    record.names.append("v.py::five")
    record.seconds.append(1.0)
    record.test_files["v.py"] = "z"
    record.files["table.py"] = Lines(tests_of.digest(table), {}, [1])
    (first, *_) = generating.mutants(table)
    assert record.chosen(first) == ["v.py::five", "t.py::one", "t.py::three"]


def test_a_record_is_what_was_written(code: Path, tmp_path: Path) -> None:
    record = _record(code)
    record.write(tmp_path / "record.json")
    assert Record.read(tmp_path / "record.json") == record
    assert Record.read(tmp_path / "none.json") == Record()


def test_tests_are_taken_out_and_put_in_again(code: Path) -> None:
    record = _record(code)
    more = Record(
        ["u.py::four"], [0.5], {"code.py": Lines(tests_of.digest(code), {7: 1}, [1, 6])}, {"u.py": "y"}
    )
    record.add(more)
    negated = next(one for one in generating.mutants(code) if one.key.operator == "negation")
    assert record.chosen(negated) == ["u.py::four", "t.py::three"]
    assert record.without(["t.py"]).chosen(negated) == ["u.py::four"]
    assert record.stale_tests() == ["t.py", "u.py"]


def test_tests_of_an_earlier_text_stay_where_those_of_the_later_one_do_not_come(code: Path) -> None:
    record = _record(code)
    code.write_text("\n" + code.read_text(encoding="utf-8"), encoding="utf-8")
    of_g = Lines(tests_of.digest(code), {8: 1}, [2, 7])
    record.add(Record(["u.py::four"], [0.5], {"code.py": of_g}, {"u.py": "y"}))
    compared = next(one for one in generating.mutants(code) if one.key.operator == "comparison")
    assert set(record.chosen(compared)) == {"t.py::one", "t.py::three"}


def test_all_of_those_whose_files_name_the_module_come_first(code: Path) -> None:
    """The others take turns, where those of the package take too long together."""
    named = [f"tests/model/test_code.py::one[{n}]" for n in range(20)]
    names = [*named, *(f"tests/model/t.py::two[{n}]" for n in range(9))]
    record = Record(names, [0.1] * 20 + [3.0] * 9, {}, {"tests/model/test_code.py": "x"})
    chosen = record._likeliest((1 << len(names)) - 1, f"relax_lint/model/inner/{code.name}")
    assert chosen[:20] == named


def test_more_of_the_stored_programs_are_drawn(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quickest are tried before; the same are drawn each time, as far as the limit goes."""
    names = [f"tests/strength/t.py::one[a-{n}]" for n in range(100)]
    record = Record(names, [1.0] * 100, {"code.py": Lines(tests_of.digest(code), {2: (1 << 100) - 1})}, {})
    compared = next(one for one in generating.mutants(code) if one.key.operator == "comparison")
    monkeypatch.setattr(tests_of, "FURTHER_S", 0.0)
    quickest = record.chosen(compared)
    monkeypatch.setattr(tests_of, "FURTHER_S", 10.5)
    chosen = record.chosen(compared)
    drawn = chosen[len(quickest) :]
    assert chosen[: len(quickest)] == quickest
    assert len(set(drawn) - set(quickest)) == len(drawn) == 10
    assert drawn != sorted(drawn)
    assert record.chosen(compared) == chosen
