"""Whether a definition is a unit may be for the file to decide: then it is read where that can be told, else said."""

from __future__ import annotations

import pytest

from relax_lint.results.problem import ProblemKind
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import FileUnits

_IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"


def unit(module: str, relax: str, decorator: str = "ir_module", indent: str = "") -> str:
    """A module whose dialects have these names."""
    lines = (
        f"@{module}.{decorator}",
        "class Module:",
        f"    @{relax}.function",
        f'    def main(x: {relax}.Tensor((4,), "float32")):',
        "        return x",
    )
    return "".join(f"{indent}{line}\n" for line in lines)


def read(text: str) -> FileUnits:
    return read_units(text.encode(), "a.py")


_SCRIPT = unit("script", "script.relax")
_NAMED = "X, Y = script.ir, script.relax\n" + unit("X", "Y")
IMPORTED_BY_A_CALL = {
    "skip": "import pytest\ntvm = pytest.importorskip('tvm')\n" + unit("tvm.script", "tvm.script.relax"),
    "skip_of_a_part": f"import pytest\nscript = pytest.importorskip('tvm.script', reason='no')\n{_SCRIPT}",
    "bare_skip": f"from pytest import importorskip\nscript = importorskip('tvm.script')\n{_NAMED}",
    "import_module": f"import importlib\nscript = importlib.import_module('tvm.script')\n{_SCRIPT}",
    "named_parts": f"import importlib\nscript = importlib.import_module('tvm.script')\n{_NAMED}",
    "function": "script = __import__('tvm').script\n" + _SCRIPT,
    "function_with_a_list": f"script = __import__('tvm.script', fromlist=['ir'])\n{_SCRIPT}",
    "function_without": "tvm = __import__('tvm.script')\n" + unit("tvm.script", "tvm.script.relax"),
}
_LATER = "from tvm.script import ir as X, relax as Y\n"
_INSIDE = unit("X", "Y", indent="    ")
NOT_KNOWN = {
    "parameter": (f"def build(X, Y):\n{_INSIDE}# tvm\n", "a parameter of `build` without a default"),
    "of_a_usual_name": (
        f"def build(I, R):\n{unit('I', 'R', indent='    ')}# tvm\n",
        "a parameter of `build` without a default",
    ),
    "bound_later": (f"X = Y = None\ndef build():\n{_INSIDE}{_LATER}build()\n", "it is not what TVM offers"),
    "bound_elsewhere": (f"def bind():\n    global X, Y\n    {_LATER}{unit('X', 'Y')}", "it is not what TVM"),
    "own_file": (f"from helpers import X, Y\n{unit('X', 'Y')}# tvm\n", "imported as `helpers.X.ir_module`"),
    "own_decorator": (f"import helpers as X\n{unit('X', 'X.R')}# tvm\n", "imported as `helpers.ir_module`"),
    "neighbour": (
        f"from .dialects import X, Y\n{unit('X', 'Y')}# tvm\n",
        "imported from a neighbouring file",
    ),
    "computed": (f"import sys\nX = sys.modules['tvm.script']\n{unit('X', 'X.relax')}", "computed by"),
    "function_alone": (
        'def build(X):\n    @X.function\n    def main(x: X.Tensor((4,), "float32")):\n        return x\n# tvm\n',
        "a parameter of `build` without a default",
    ),
}
ORDINARY = (
    "@tf.function\ndef f(x: tf.Tensor):\n    return x\n",
    "@stub.function(gpu=1)\ndef f(x=tf.Tensor(1)):\n    return x\n",
    "@app.module\nclass Module:\n    pass\n",
    'import pytest\nwith pytest.raises(ValueError):\n    @X.ir_module\n    class Module:\n        """Nothing."""\n',
)


@pytest.mark.parametrize("text", IMPORTED_BY_A_CALL.values(), ids=IMPORTED_BY_A_CALL.keys())
def test_an_import_may_be_a_call(text: str) -> None:
    found = read(text)
    assert [(one.name, one.kind) for one in found.units] == [("Module", "module")]
    assert found.problems == ()


@pytest.mark.parametrize(("text", "why"), NOT_KNOWN.values(), ids=NOT_KNOWN.keys())
def test_what_looks_like_a_unit_is_never_skipped_in_silence(text: str, why: str) -> None:
    found = read(text)
    (problem,) = found.problems
    assert problem.kind is ProblemKind.UNRESOLVED_NAME
    assert "is unknown: " in problem.message
    assert why in problem.message
    assert found.units == ()


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_no_unit_is_nothing(text: str) -> None:
    assert read(f"{text}# tvm relax function ir_module\n") == FileUnits()


def test_a_module_whose_functions_are_read_alone_is_not_told_twice() -> None:
    found = read(f"{_IMPORTS}from helpers import X\n{unit('X', 'R')}")
    assert [(one.name, one.kind) for one in found.units] == [("main", "function")]
    assert found.problems == ()


def test_of_several_decorators_the_last_decides_whether_there_is_anything_to_judge() -> None:
    text = _IMPORTS + unit("I", "R").replace("    @R.function", "    @T.prim_func\n    @R.function")
    assert [one.name for one in read(text).units] == ["Module"]
