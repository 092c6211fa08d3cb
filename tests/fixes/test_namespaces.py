"""What a fix calls TVMScript's namespaces: a name that means them where it is written, or nothing is edited."""

from __future__ import annotations

from textwrap import indent

import pytest

from relax_lint.repair.apply import apply_edits
from relax_lint.settings.config import Config
from tests.fixes.fixing import findings

IR, RELAX = "from tvm.script import ir as I\n", "from tvm.script import relax as R\n"
TIR = "from tvm.script import tirx as T\n"
MODULE = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")) -> R.Tensor(ndim=1, dtype="float32"):
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")
        b = R.memory.alloc_tensor(storage, 16, R.shape([8]), "float32")
        return b
"""
"""A storage that needs the larger of 48 and 4*m bytes."""
RESIZE = Config(fix_strategy="dynamic", select=("RLX101",))
CHECK = Config(fix_strategy="assert", select=("RLX101",))


def sizes(text: str) -> set[str | None]:
    """The texts of the file after each fix alone that makes the storage larger; None where it has no edits."""
    found: set[str | None] = set()
    for finding in findings(text, RESIZE):
        fix = finding.fixes[0]
        assert fix.title == "make the storage as large as its tensors"
        found.add(apply_edits(text, fix.edits) if fix.edits else None)
    return found


@pytest.mark.parametrize(
    ("header", "size"),
    [
        (IR + RELAX + TIR, "T.max(48, m * 4)"),
        (IR + RELAX + "from tvm.script import tirx as tir\n", "tir.max(48, m * 4)"),
        (IR + RELAX + "import tvm.script.tirx as X\n", "X.max(48, m * 4)"),
        (
            "try:\n    from tvm.script import tirx as T\nexcept ImportError:\n    from tvm.script import tir as T\n"
            + IR
            + RELAX,
            "T.max(48, m * 4)",
        ),
        (IR + RELAX, "T.max(48, m * 4)"),
        ("".join(f"# {line}\n" for line in (IR + TIR + RELAX).splitlines()), "T.max(48, m * 4)"),
    ],
)
def test_a_name_of_the_file_is_used_or_one_is_imported(header: str, size: str) -> None:
    (after,) = sizes(header + MODULE)
    assert after is not None
    assert f"R.shape([{size}])" in after
    assert not findings(after, RESIZE)
    assert after.replace(TIR, "").replace(size, "16") == (header + MODULE).replace(TIR, "")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(IR + RELAX + "import numpy as T\n" + MODULE, id="an import"),
        pytest.param(IR + RELAX + TIR + "T = 3\n" + MODULE, id="an assignment"),
        pytest.param(IR + RELAX + "def T():\n    pass\n" + MODULE, id="a function"),
        pytest.param(IR + RELAX + "class T:\n    pass\n" + MODULE, id="a class"),
        pytest.param(IR + RELAX + MODULE + "del T\n", id="a deletion"),
        pytest.param(IR + RELAX + "from numpy import *\n" + MODULE, id="who knows"),
        pytest.param(
            IR + RELAX + "def make(T):\n" + indent(MODULE, "    ") + "    return Module\n", id="an argument"
        ),
        pytest.param(
            IR + RELAX + TIR + MODULE.replace('("m",)', '("m", "T")').replace("([m])", "([m * T])"),
            id="a symbol",
        ),
        pytest.param(
            IR + RELAX + TIR + MODULE.replace("main(x", "main(T: R.Tensor((2,)), x"), id="a parameter"
        ),
        pytest.param(
            (IR + RELAX + MODULE).replace("relax as R", "relax as T").replace("R.", "T."), id="Relax"
        ),
    ],
)
def test_where_t_is_something_else_nothing_is_edited(text: str) -> None:
    assert sizes(text) == {None}


def test_a_relax_namespace_of_any_name_needs_no_import_of_tirs() -> None:
    text = (IR + RELAX + MODULE).replace("relax as R", "relax as T").replace("R.", "T.")
    edited = [fix.edits for finding in findings(text, CHECK) for fix in finding.fixes if fix.edits]
    assert [edit.text.strip() for (edit,) in edited] == [
        'T.assert_op(m <= 4, [m], format="m = {}, but m <= 4 is needed")'
    ]


def test_a_symbol_whose_name_becomes_something_else_is_not_written() -> None:
    view = MODULE.replace("return b", 'v = R.memory.view(x, R.shape([4]), "float32", 0)\n        return v')
    config = Config(fix_strategy="assert", select=("RLX304",))
    for text, edited in (
        (view, True),
        (view.replace("        v =", "        m = R.add(x, x)\n        v ="), False),
    ):
        (finding,) = findings(IR + RELAX + TIR + text, config)
        assert [bool(fix.edits) for fix in finding.fixes if "m >= 4" in fix.title] == [edited]
