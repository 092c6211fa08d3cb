"""A syntax error: told as Python tells it, and paid for by the definition that it is in."""

from __future__ import annotations

import pytest

from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import FileUnits, ParsedUnit

UNIT = """
@R.function
def {0}(x: R.Tensor((4,), "float32")):
    y = R.add(x, x)
    return y
"""
HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n"


def read(text: str) -> FileUnits:
    return read_units(text.encode(), "m.py")


def names(found: FileUnits) -> list[str]:
    return [unit.name for unit in found.units]


@pytest.mark.parametrize(
    "bad",
    [
        "def broken(:\n    pass\n",
        "def broken():\n    x = (1,\n    return x\n",
        "def broken():\n        a = 1\n    b = 2\n",
        "@decorator\n@R.function\ndef broken(x: R.Tensor((4,), 'float32')):\n    y = R.add(x, x))\n    return y\n",
        "x = = 3\n",
        "class Broken:\n    def f(self):\n        return 1 +\n\n    def g(self):\n        return 2\n",
        "print 'hello'\n",
    ],
)
def test_the_rest_of_the_file_is_read(bad: str) -> None:
    found = read(HEAD + UNIT.format("before") + bad + UNIT.format("after"))
    assert names(found) == ["before", "after"]
    assert [problem.message.split(":")[0] for problem in found.problems] == ["syntax error"]
    assert all(isinstance(read_unit(unit), ParsedUnit) for unit in found.units)


def test_each_error_is_told() -> None:
    bad = "def broken{0}():\n    return )\n"
    found = read(HEAD + bad.format(1) + UNIT.format("f") + bad.format(2))
    assert names(found) == ["f"]
    assert [p.location.line for p in found.problems if p.location] == [3, 10]


def test_what_python_underlines_is_underlined() -> None:
    text = HEAD + "def f():\n    a = 1\n    g(a b)\n" + UNIT.format("g")
    (problem,) = read(text).problems
    with pytest.raises(SyntaxError) as caught:
        compile(text, "m.py", "exec")
    location, error = problem.location, caught.value
    assert location is not None
    assert (location.line, location.column) == (error.lineno, error.offset)
    assert (location.end_line, location.end_column) == (error.end_lineno, error.end_offset)
    assert problem.message == f"syntax error: {error.msg}"


MODULE = """
@I.ir_module
class M:
    @R.function
    def bad(x: R.Tensor((4,), "float32")):
        y = R.add(x, x))
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        y = cls.bad(x)
        z = R.add(x, x)
        return z
"""


def test_a_function_that_is_not_python_costs_its_module_nothing_else() -> None:
    found = read(HEAD + MODULE)
    assert names(found) == ["M"]
    (problem,) = found.problems
    assert problem.location is not None
    assert problem.location.line == 7
    parsed = read_unit(found.units[0])
    assert isinstance(parsed, ParsedUnit)
    assert [skipped.problem for skipped in parsed.skipped] == [None]
    assert [str(var.name_hint) for var in parsed.ir_module.functions] == ["main"]


def test_a_text_of_nothing_but_errors_ends() -> None:
    found = read(HEAD + "@R.function\n" + ")\n" * 200)
    assert names(found) == []
    assert len(found.problems) >= 1
