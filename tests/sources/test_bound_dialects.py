"""The names under which files have TVM's dialects. Python itself says which of them work."""

from __future__ import annotations

import importlib.util
import textwrap
import warnings
from pathlib import Path

import pytest
import tvm
from tvm import relax

from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import Literal, ParsedUnit

IMPORT = "from tvm.script import relax as R\n"
FUNCTION = """\
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    return x
"""


def under(name: str) -> str:
    """The function with another name for the dialect."""
    return FUNCTION.replace("R.", f"{name}.")


def without_name(text: str) -> str:
    return text.replace("R.", "")


WORKING = {
    "none where tvm is missing": f"try:\n    {IMPORT}except ImportError:\n    R = None\n{FUNCTION}",
    "none at first": f"R = None\ntry:\n    {IMPORT}except ImportError:\n    pass\n{FUNCTION}",
    "in else": f"try:\n    import tvm\nexcept ImportError:\n    R = None\nelse:\n    {IMPORT}{FUNCTION}",
    "tvm is none": (
        f"try:\n    import tvm\nexcept ImportError:\n    tvm = None\n{IMPORT}"
        + FUNCTION.replace("@R", "@tvm.script.relax")
    ),
    "another package first": (
        f"try:\n    from no_such.package import relax as R\nexcept ImportError:\n    {IMPORT}{FUNCTION}"
    ),
    "another package last": (
        f"try:\n    {IMPORT}except ImportError:\n    from no_such.package import relax as R\n{FUNCTION}"
    ),
    "two branches": f"if 1:\n    {IMPORT}else:\n    R = None\n{FUNCTION}",
    "second branch": f"if 0:\n    R = object\nelse:\n    {IMPORT}{FUNCTION}",
    "a case": f"match 1:\n    case 1:\n        from tvm.script import relax as Q\n    case _:\n        Q = None\n{under('Q')}",
    "a loop": f"for Q in [1]:\n    from tvm.script import relax as Q\n{under('Q')}",
    "a context": (
        "import contextlib\nwith contextlib.suppress(ImportError):\n    from tvm.script import relax as Q\n"
        + under("Q")
    ),
    "two targets": f"{IMPORT}P = Q = R\n{under('Q')}",
    "a tuple of targets": f"{IMPORT}P = (Q, S) = R, R\n{under('Q')}",
    "one or the other": f"{IMPORT}Q = R if R else None\n{under('Q')}",
    "or": f"{IMPORT}Q = None or R\n{under('Q')}",
    "declared first": f"R: object\n{IMPORT}R: object\n{FUNCTION}",
    "a decorator with arguments": f"{IMPORT}private = R.function(private=True)\n{FUNCTION.replace('@R.function', '@private')}",
    "star": f"from tvm.relax.script import *\n{without_name(FUNCTION)}",
    "star of the parser": f"from tvm.relax.script.parser import *\n{without_name(FUNCTION)}",
    "module of the entry": f"import tvm.relax.script.parser.entry as E\n{IMPORT}{FUNCTION.replace('@R', '@E')}",
}


@pytest.mark.parametrize("name", WORKING)
def test_what_python_finds_is_found(name: str, tmp_path: Path) -> None:
    text = WORKING[name]
    (tmp_path / "written.py").write_text(text)
    spec = importlib.util.spec_from_file_location("written", tmp_path / "written.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spec.loader.exec_module(module)
    except ModuleNotFoundError:
        # Another release has it at another place.
        assert tuple(map(int, tvm.__version__.split(".")[:2])) < (0, 27)
    else:
        assert any(isinstance(value, relax.Function) for value in vars(module).values())
    assert [unit.name for unit in read_units(text.encode(), "a.py").units] == ["main"]


@pytest.mark.parametrize(
    "before",
    [
        "from .common import R, T\n",
        "import tvm\nfrom project.dialects import R as Q\n",
        "from . import *\n",
        "from .common import *\nfrom tvm.relax.script import function\n",
    ],
)
def test_short_names_that_a_file_of_ones_own_hands_on(before: str) -> None:
    text = before + (under("Q") if "Q" in before else FUNCTION)
    assert len(read_units(text.encode(), "a.py").units) == 1


@pytest.mark.parametrize(
    "before",
    [
        "R = None\n",
        f"{IMPORT}R = None\n",
        f"try:\n    {IMPORT}except ImportError:\n    pass\nR = None\n",
        "from .common import relax as R\n",
        "from asyncio import *\nfrom project import function as R\n",
        f"def other():\n    {IMPORT}R = None\n",
    ],
)
def test_what_is_certainly_something_else_is_ordinary(before: str) -> None:
    assert read_units((before + "import tvm\n" + FUNCTION).encode(), "a.py").units == ()


@pytest.mark.parametrize(
    ("before", "value", "assumption"),
    [
        ("N = 8\n", 8, None),
        ("if X:\n    N = 4\nelse:\n    N = 8\n", 8, "N = 8 (line 4)"),
        ("N = 4\nif X:\n    N = 8\n", 8, "N = 8 (line 3)"),
        ("if X:\n    N = 4\nN = 8\n", 8, None),
        ("try:\n    N = 8\nexcept E:\n    N = 8\n", 8, None),
        ("if X:\n    N = f(X)\nelse:\n    N = (1, 2)\n", (1, 2), "N = (1, 2) (line 4)"),
    ],
)
def test_a_value_of_one_branch_is_an_assumption(before: str, value: object, assumption: str | None) -> None:
    text = before + textwrap.dedent(FUNCTION.replace("(4,)", "(N,)"))
    (unit,) = read_units(text.encode(), "a.py").units
    assert unit.environment["N"] == Literal(value, assumption)


def test_what_a_decorator_by_another_name_says_of_form_counts() -> None:
    # The rest TVM's own parser reads off the decorator as it is written, too.
    text = f"{IMPORT}plain = R.function(pure=False, check_well_formed=False)\n"
    (unit,) = read_units((text + FUNCTION.replace("@R.function", "@plain")).encode(), "a.py").units
    assert not unit.check_well_formed
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit)
    assert parsed.ir_module["main"].is_pure


@pytest.mark.parametrize("called", ["print", "R.Tensor", "functools.partial", "make"])
def test_another_call_is_no_decorator_of_ours(called: str) -> None:
    text = f"import functools, tvm\n{IMPORT}plain = {called}(R.function)\n"
    assert read_units((text + FUNCTION.replace("@R.function", "@plain")).encode(), "a.py").units == ()
