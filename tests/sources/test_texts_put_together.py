"""Texts that a file puts together for TVM's parser: what is read of them without running the file is what Python makes of
them, or it is said what was assumed, or that they are not read.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
import tvm

from relax_lint.results.problem import ProblemKind
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import FileUnits, ParsedUnit

BEFORE = "import contextlib\nimport tvm\nfrom tvm.script import from_source\nMADE = []\n"
TEXT = '''"""
@R.function
def f(x: R.Tensor((%s,), "float32")):
    y = R.add(x, x)
    return y
"""'''
TAKE = f"MADE.append(from_source(f{TEXT % '{N}'}))\n"
IN_TAKE = TAKE.replace("MADE", "    MADE", 1)
IN_BLOCK = IN_TAKE.replace("    MADE", "        MADE", 1)

# What Python makes of them, without an assumption.
READ = {
    "of the scope": f"def other():\n    N = 64\nN = 4\n{TAKE}",
    "of the function": f"N = 64\ndef make():\n    N = 4\n{IN_TAKE}make()\n",
    "unpacked": f"def other():\n    N = 64\nN, = [4]\n{TAKE}",
    "of the file": f"class A:\n    N = 64\n    def make(self):\n    {IN_TAKE}N = 4\nA().make()\n",
    "computed": f"N = 2 * 2\n{TAKE}",
    "a text": "M = '4'\nN = f'{M}'\n" + TAKE,
    "changed elsewhere": f"def other(text):\n    text = text.replace('4', '64')\n    return text\n"
    f"def make():\n    text = {TEXT % 4}\n    MADE.append(from_source(text))\nmake()\n",
    "one of Python's": f"import textwrap\ndef dedent(t):\n    return t.replace('4', '64')\nMADE.append(from_source(textwrap.dedent({TEXT % 4})))\n",
    "one that is stripped": f"text = {TEXT % 4}\ntext = text.strip()\nMADE.append(from_source(text))\n",
}
ASSUMED = {
    "the one above": (f"N = 4\n{TAKE}N = 64\n", "N = 4"),
    "a default": (f"def make(N=4):\n{IN_TAKE}make()\n", "N = 4 (default)"),
    "another one": (f"N = 4\nif N > 8:\n    N = 64\n{TAKE}", "N = 64 (line 7)"),
}
UNREAD = {
    "a parameter": f"N = 64\ndef make(N):\n{IN_TAKE}make(4)\n",
    "an import": f"def other():\n    N = 64\nfrom sizes_of_mine import N\n{TAKE}",
    "a star import": f"def other():\n    N = 64\nfrom sizes_of_mine import *\n{TAKE}",
    "a context": f"if 0:\n    N = 64\nwith contextlib.nullcontext(4) as N:\n{IN_TAKE}",
    "a global": f"N = 64\ndef change():\n    global N\n    N += -60\nchange()\n{TAKE}",
    "an outer one": f"def make():\n    N = 64\n    def change():\n        nonlocal N\n        N = 4\n    change()\n{IN_TAKE}make()\n",
    "a comprehension": f"N = 64\n[{TAKE.strip()} for N in (4,)]\n",
    "a lambda": f"N = 64\n(lambda N: {TAKE.strip()})(4)\n",
    "named in place": f"N = 64\nprint(N := 4)\n{TAKE}",
    "an exception": f"class Four(Exception):\n    __str__ = lambda self: '4'\nN = 64\ntry:\n    raise Four\n"
    f"except Four as N:\n{IN_TAKE}",
    "a match": f"N = 64\nmatch 4:\n    case N:\n{IN_BLOCK}",
    "changed": f"text = {TEXT % 64}\ntext = text.replace('64', '4')\nMADE.append(from_source(text))\n",
    "changed under another name": f"text = {TEXT % 64}\nother = text.replace('64', '4')\ntext = other\nMADE.append(from_source(text))\n",
    "changed in a list": f"L = [{TEXT % 64}]\nL = [t.replace('64', '4') for t in L]\nMADE.append(from_source(L[0]))\n",
    "a function of that name": f"def dedent(t):\n    return t.replace('64', '4')\nMADE.append(from_source(dedent({TEXT % 64})))\n",
    "a function with that name": f"dedent = lambda t: t.replace('64', '4')\nMADE.append(from_source(dedent({TEXT % 64})))\n",
    "a method of that name": f"class A(str):\n    def strip(self):\n        return self.replace('64', '4')\nMADE.append(from_source(A({TEXT % 64}).strip()))\n",
    "changed in a field": f"S = {{'a': {TEXT % 64}}}\nS['a'] = S['a'].replace('64', '4')\nMADE.append(from_source(S['a']))\n",
    "changed in an attribute": f"class A:\n    pass\nA.text = {TEXT % 64}\nA.text = A.text.replace('64', '4')\nMADE.append(from_source(A.text))\n",
    "a parameter that is changed": f"def make(text):\n    text = text.replace('64', '4')\n    MADE.append(from_source(text))\nmake({TEXT % 64})\n",
}


@pytest.fixture
def sizes() -> Iterator[None]:
    module = types.ModuleType("sizes_of_mine")
    module.N = 4  # type: ignore[attr-defined]
    sys.modules["sizes_of_mine"] = module
    yield
    del sys.modules["sizes_of_mine"]


def read(text: str) -> FileUnits:
    return read_units((BEFORE + text).encode(), "a.py")


def made(text: str) -> list[Any]:
    """The functions that the file makes when it is run."""
    names: dict[str, Any] = {}
    exec(compile(BEFORE + text, "a.py", "exec"), names)
    found: list[Any] = names["MADE"]
    return found


def parsed(found: FileUnits) -> ParsedUnit:
    (unit,) = found.units
    result = parse_unit(unit)
    assert isinstance(result, ParsedUnit), result
    return result


@pytest.mark.parametrize("text", READ.values(), ids=READ.keys())
def test_the_same_is_read_as_is_made(text: str) -> None:
    found = read(text)
    assert found.problems == ()
    result = parsed(found)
    assert result.assumptions == ()
    (real,) = made(text)
    tvm.ir.assert_structural_equal(
        result.ir_module["f"].without_attr("global_symbol"), real.without_attr("global_symbol")
    )


@pytest.mark.parametrize(("text", "assumption"), ASSUMED.values(), ids=ASSUMED.keys())
def test_what_is_assumed_is_said(text: str, assumption: str) -> None:
    assert parsed(read(text)).assumptions == (assumption,)


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD.keys())
def test_what_is_not_known_is_not_read(text: str, sizes: None) -> None:
    (real,) = made(text)
    assert list(real.params[0].ty.shape) == [4]
    found = read(text)
    assert found.units == ()
    assert [problem.kind for problem in found.problems] == [ProblemKind.UNRESOLVED_NAME]


def test_what_is_made_of_one_that_is_read_is_not_read() -> None:
    text = f"text = {TEXT % 4}\nother = text.replace('4', '64')\n"
    for given in (
        "from_source(text)\nfrom_source(other)\n",
        "for one in (text, other):\n    from_source(one)\n",
    ):
        found = read(text + given)
        assert list(parsed(found).ir_module["f"].params[0].ty.shape) == [4]
        assert [problem.kind for problem in found.problems] == [ProblemKind.UNRESOLVED_NAME]
