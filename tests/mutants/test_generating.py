"""The faults that are put into the engine: which, where, and that what explains survivors still fits the code."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from tools.mutants import generating
from tools.mutants.explained import FILE, classes, entry, explained
from tools.mutants.generating import PACKAGES, Key, Mutant, mutants, python_files


@cache
def _of_file(path: Path) -> list[Mutant]:
    """Those of a file of the engine, which more than one test looks through."""
    return mutants(path)


def _mutants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> list[Mutant]:
    monkeypatch.setattr(generating, "ROOT", tmp_path)
    path = tmp_path / "code.py"
    path.write_text(dedent(text), encoding="utf-8")
    return mutants(path)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("x = a < b", {("comparison", "a < b -> a <= b")}),
        ("x = a is None", {("comparison", "a is None -> a is not None")}),
        ("x = a and b", {("and, or", "a and b -> a or b")}),
        ("x = a and b", {("operand dropped", "a and b -> a"), ("operand dropped", "a and b -> b")}),
        ("x = a + b", {("arithmetic", "a + b -> a - b"), ("operand dropped", "a + b -> a")}),
        ("x = a | b", {("union, intersection", "a | b -> a & b")}),
        ("x = a.union(b)", {("union, intersection", "a.union -> a.intersection")}),
        ("x = 8", {("off by one", "8 -> 9")}),
        ("x = True", {("truth", "True -> False")}),
        ("x = not a", {("negation", "not a -> a")}),
        ("x = any(a)", {("opposite name", "any -> all")}),
        ("x = Certainty.MUST", {("other member", "Certainty.MUST -> Certainty.MAY")}),
        ("x = sympy.true", {("opposite name", "sympy.true -> sympy.false")}),
        ("x = {a, b}", {("element dropped", "{a, b} -> {b}"), ("element dropped", "{a, b} -> {a}")}),
        ("x = [y for y in z if y]", {("guard dropped", "for y in z if y -> for y in z")}),
        ("a.add(b)", {("statement dropped", "a.add(b) -> pass")}),
        ("a[b] = c", {("statement dropped", "a[b] = c -> pass")}),
        ("a |= b", {("statement dropped", "a |= b -> pass"), ("arithmetic", "a |= b -> a &= b")}),
        ("yield a", {("statement dropped", "yield a -> if False:")}),
        ("return a", {("returned value", "return a -> return None")}),
        (
            "if a:\n        return",
            {("guard dropped", "if a: -> if False:"), ("negation", "if a: -> if not a:")},
        ),
        ("if a:\n        a.b()", {("condition dropped", "if a: -> if True:")}),
        ("for a in b:\n        a()", {("one round", "for a in b: -> for a in b: ... break")}),
        ("for a in b:\n        continue", {("loop left", "continue -> break")}),
        (
            "match a:\n        case int():\n            pass",
            {("case skipped", "case int() -> case int() if False")},
        ),
    ],
)
def test_a_statement_has_these_faults(
    statement: str, expected: set[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _mutants(tmp_path, monkeypatch, f"def f() -> int | None:\n    {statement}\n")
    assert expected <= {(mutant.key.operator, mutant.key.fault) for mutant in found}
    for mutant in found:
        mutant.compiled()


@pytest.mark.parametrize(
    "text",
    [
        '"""1 and 2."""',
        "assert 1 < 2",
        'raise ValueError(f"{1 + 2}")',
        "x: 'dict[1, 2]'",
        "__all__ = ['a', 'b']",
        "F = Callable[[A, B], bool | None]",
        "F: Kind = Callable[[A, B], C]",
        "x = field(repr=False)",
        "if TYPE_CHECKING:\n    x = 1",
        "def f() -> tuple[int, ...]:\n    return ()",
        "def f() -> set[int]:\n    return set()",
        "def f() -> dict[str, int]:\n    return {}",
        "def f() -> list[int]:\n    return []",
    ],
)
def test_what_no_run_depends_on_has_no_faults(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _mutants(tmp_path, monkeypatch, text) == []


def test_a_mutant_leaves_the_others_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _mutants(tmp_path, monkeypatch, "def f(a, b):\n    return a < b\n")
    (mutant,) = [one for one in found if one.key.operator == "comparison"]
    values: dict[str, object] = {}
    exec(mutant.compiled(), values)
    function = values["f"]
    assert callable(function)
    assert function(1, 1)
    assert mutant.compiled().co_code == mutant.compiled().co_code
    assert "<=" not in ast.unparse(ast.parse((tmp_path / "code.py").read_text()))


def test_the_same_fault_twice_on_a_line_is_two_mutants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _mutants(tmp_path, monkeypatch, "x = f(1) + g(1)\n")
    assert [mutant.key.number for mutant in found if mutant.key.fault == "1 -> 2"] == [0, 1]


def test_every_explained_survivor_is_a_mutant_of_the_code() -> None:
    known = explained()
    files = sorted({key.file for key in known})
    now = {mutant.key for path in python_files(files) for mutant in _of_file(path)}
    assert [key for key in known if key not in now] == [], f"{FILE.name} explains what is no longer there"


def test_every_class_explains_mutants_of_the_code_and_none_that_changes_a_meaning() -> None:
    keys = [mutant.key for path in python_files(PACKAGES) for mutant in _of_file(path)]
    for one in classes():
        assert sum(map(one.has, keys)) > 20, one
    (sizes, limits, strict) = classes()
    file = "relax_lint/symbolic/univariate.py"
    assert sizes.has(Key(file, "off by one", "MAX_PIECES = 64", "64 -> 65"))
    assert not sizes.has(Key(file, "off by one", "MAX_SHIFT = 63", "63 -> 64"))
    assert limits.has(Key(file, "comparison", "if a > MAX_TERMS:", "a > MAX_TERMS -> a >= MAX_TERMS"))
    assert not limits.has(Key(file, "comparison", "x", "0 <= b <= MAX_SHIFT -> 0 <= b < MAX_SHIFT"))
    assert not limits.has(
        Key(file, "comparison", "if a is None or b > MAX_TERMS:", "a is None -> a is not None")
    )
    assert strict.has(Key(file, "truth", "zip(a, b, strict=True)", "True -> False"))
    assert not strict.has(Key(file, "truth", "zip(a, b, strict=True), reached=True", "True -> False"))


def test_an_entry_reads_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "explained.toml"
    key = Key("a.py", "off by one", 'x = f("1\'")', "1 -> 2", 1)
    path.write_text(entry(key, "the same for all n"), encoding="utf-8")
    assert explained(path) == {key: "the same for all n"}
    path.write_text(entry(key, ""), encoding="utf-8")
    with pytest.raises(ValueError, match="without a reason"):
        explained(path)


def test_what_a_table_names_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _mutants(tmp_path, monkeypatch, "TABLE = {'a': one, 'b': two}\nOTHER = (one, one)\n")
    lost = {mutant.key.fault.partition(" -> ")[2]: set(mutant.lost) for mutant in found}
    assert lost["{'b': two}"] == {"one"}
    assert lost["{'a': one}"] == {"two"}
    assert lost["(one,)"] == set()
