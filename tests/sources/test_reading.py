"""Finding units in the bytes of a file."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_lint.sources.prefilter import may_contain_relax
from relax_lint.sources.reading import read_units

MODULE = """
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return x
"""


def names(text: str | bytes) -> list[tuple[str, str, int]]:
    data = text.encode() if isinstance(text, str) else text
    found = read_units(data, "a.py")
    assert found.problems == ()
    return [(unit.name, unit.kind, unit.line) for unit in found.units]


@pytest.mark.parametrize(
    ("imports", "decorator"),
    [
        ("from tvm.script import ir as I, relax as R", "@I.ir_module"),
        ("from tvm.script import ir as J, relax as R", "@J.ir_module"),
        ("from tvm.script.parser import ir as I, relax as R", "@I.ir_module(check_well_formed=False)"),
        ("import tvm\nfrom tvm.script import relax as R", "@tvm.script.ir_module"),
        ("import tvm as t\nfrom tvm.script import relax as R", "@t.script.ir.ir_module()"),
        ("from tvm import script\nfrom tvm.script import relax as R", "@script.ir_module"),
        ("from tvm.script import ir_module, relax as R", "@ir_module"),
        ("from tvm.script.ir import ir_module as m\nfrom tvm.script import relax as R", "@m"),
        ("# from tvm.script import ir as I", "@I.ir_module"),
        ("from tvm.script import ir as I, relax as R\nmodule = I.ir_module", "@module"),
    ],
)
def test_decorator_spellings(imports: str, decorator: str) -> None:
    text = f"{imports}\n{decorator}{MODULE}"
    assert [name for name, _, _ in names(text)] == ["Module"]


def test_a_decorator_of_another_library_is_not_ours() -> None:
    text = "import tvm\nimport rx as R\n@R.function\ndef f(x: 1):\n    return x\n"
    assert names(text) == []


def test_units_at_any_depth_and_of_one_name() -> None:
    text = (
        """from tvm.script import ir as I, relax as R
class TestSuite:
    def test_one(self):
        if True:
            @I.ir_module
            class Module:
                @R.function
                def main(x: R.Tensor((4,), "float32")):
                    return x
        @R.function(private=True)
        def main(x: R.Tensor((4,), "float32")):
            @R.function
            def inner(y: R.Tensor((4,), "float32")):
                return y
            return inner(x)
@I.ir_module"""
        + MODULE
    )
    assert names(text) == [("Module", "module", 6), ("main", "function", 11), ("Module", "module", 17)]


def test_bare_prim_funcs_are_not_units() -> None:
    text = "from tvm.script import tir as T\n@T.prim_func\ndef function(a: T.handle):\n    pass\n"
    assert names(text) == []


def test_units_can_be_pickled() -> None:
    units = read_units(("import tvm\n@I.ir_module" + MODULE).encode(), "a.py").units
    again = pickle.loads(pickle.dumps(units))
    assert [(unit.name, unit.line) for unit in again] == [("Module", 3)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"print('hello')\n",
        b"def function(x):\n    return x\n",
        b"# ir_module of tvm\nx = 1\n",
        b"\x7fELF\x00\x01\x02",
        bytes(range(256)) * 4,
    ],
)
def test_a_file_without_relax_is_nothing(data: bytes) -> None:
    assert read_units(data, "a.py").units == ()


@given(st.binary(max_size=40), st.sampled_from([b"\n", b"\r\n", b"\t", b" "]))
def test_the_filter_misses_no_unit(noise: bytes, space: bytes) -> None:
    for text in (
        b"@I.ir_module",
        b"@R.function",
        b"import tvm\n@module.function",
        b"@tvm.script.ir_module()",
    ):
        assert may_contain_relax(noise + space + text + space + noise)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"def f():\n    pass\n",
        b"# a function\n",
        b"class Relaxed:\n    function = 1\n",
        b"import numpy\n",
    ],
)
def test_the_filter_rejects_ordinary_python(data: bytes) -> None:
    assert not may_contain_relax(data)


def test_the_filter_on_the_standard_library() -> None:
    files = sorted(Path(pytest.__file__).parent.parent.joinpath("pip").rglob("*.py"))[:300]
    passed = [path for path in files if may_contain_relax(path.read_bytes())]
    assert len(passed) <= len(files) // 100


UNIT = "import tvm\n@I.ir_module" + MODULE


@pytest.mark.parametrize(
    ("data", "message", "line", "column"),
    [
        ((UNIT + "x = = 1\n").encode(), "syntax error: invalid syntax", 7, 5),
        ((UNIT + "é = (\n").encode(), "syntax error: '(' was never closed", 7, 5),
        (UNIT.encode() + b"\xff\xfe\n", "not readable as text", 1, 1),
        (b"# coding: no-such-codec\n" + UNIT.encode(), "not readable as text: unknown encoding", 1, 1),
        (UNIT.encode() + b"\0", "not readable as text: the file contains a NUL byte", 1, 1),
        ((UNIT + "x = " + "(" * 300 + ")" * 300 + "\n").encode(), "", 1, 1),
        ((UNIT + "x = " + "-" * 100_000 + "1\n").encode(), "", 1, 1),
        ((UNIT + "x = " + "9" * 10_000 + "\n").encode(), "", 1, 1),
    ],
)
def test_unreadable_text_is_one_clear_problem(data: bytes, message: str, line: int, column: int) -> None:
    found = read_units(data, "a.py")
    (problem,) = found.problems
    assert problem.kind == "parse-error"
    # Of a text with a syntax error the other definitions are read.
    assert [unit.name for unit in found.units] in ([], ["Module"])
    assert problem.message.startswith(message)
    assert problem.location is not None
    if message:
        assert (problem.location.line, problem.location.column) == (line, column)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + UNIT.encode(),
        UNIT.replace("\n", "\r\n").encode(),
        UNIT.replace("\n", "\r").encode(),
        b"# coding: latin-1\n# caf\xe9\n" + UNIT.encode(),
        b"# -*- coding: utf-8-sig -*-\n" + UNIT.encode(),
        UNIT.replace("    ", "\t").encode(),
        UNIT.replace("class", "\f\nclass").encode(),
    ],
)
def test_encodings_and_line_ends(data: bytes) -> None:
    assert [name for name, _, _ in names(data)] == ["Module"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads the syntax itself")
def test_type_parameters_are_read_by_an_older_python() -> None:
    text = "from tvm.script import relax as R\n@R.function\ndef f[n](x: R.Tensor((n,), 'float32')):\n    return x\n"
    assert names(text) == [("f", "function", 3)]


@pytest.mark.parametrize(
    "line",
    [
        "x{1} = (x{0}, x{0})",
        "x{1} = [np.float32(1), x{0}, x{0}]",
        "x{1}, y{1} = x{0} + y{0}, x{0} - y{0}",
        "x{1} = f(x{0}, x{0})",
        "x{1} = x{0} * x{0}",
    ],
)
def test_names_that_double_with_every_line(line: str) -> None:
    lines = ["import numpy as np", "x0 = np.float32(1) if 'np' in '{1}' else 2", "y0 = 1"]
    lines += [line.format(i, i + 1) for i in range(60)]
    text = "\n".join(lines) + "\nx = x60\n" + UNIT.replace("(4,)", "(x,)")
    assert [name for name, _, _ in names(text)] == ["Module"]


def test_names_that_go_in_circles() -> None:
    body = UNIT.replace("(4,)", "(a, n)").replace("\n", "\n    ")
    text = f"def test(n=n):\n    {body}\na = b\nb = a\n"
    assert [name for name, _, _ in names(text)] == ["Module"]
