"""Constants of which the printed text of a module omits the type too: what is expected where they are passed or
returned is no proof that they have it. TVM prints the same text whatever they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tvm

import relax_lint
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config

HEADER = "# from tvm.script import ir as I\n# from tvm.script import relax as R, tirx as T\n"
KERNEL = """
@I.ir_module(check_well_formed=False)
class Module:
    @T.prim_func(private=True)
    def k(a: T.Buffer((8,), "float32"), b: T.Buffer((8,), "float32")):
        for i in range(8):
            b[i] = a[i]

    @R.function
    def main(x: R.Tensor((8,), dtype="float32")):
        cls = Module
        {named}
        y = R.call_tir(cls.k, ({passed},), out_ty=R.Tensor((8,), dtype="float32"))
        return y
"""
TWO = """
@I.ir_module
class Module:
    @R.function(private=True)
    def f(x: R.Tensor((8,), dtype="float32"), y: R.Tensor((4,), dtype="float32")):
        return x

    @R.function(private=True)
    def g(x: R.Tensor((8,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        @R.function
        def inner(y: R.Tensor((8,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            return {c}[3]
        z = inner(x)
        return {c}[2]

    @R.function
    def main(x: R.Tensor((8,), dtype="float32")):
        cls = Module
        u = cls.f({c}[0], {c}[1])
        v = cls.g(u)
        w: R.Tensor((4,), dtype="float32") = {c}[{annotated}]
        return (v, w)
"""
OMITTED = 'metadata["ir.GenericConst"]'
ASSUMED = "constant 0, which the text omits, has the type that `k` expects"


def _module(extent: int, *, named: bool) -> Any:
    value = f'R.const({[1] * extent}, "float32")'
    text = KERNEL.format(named=f"c = {value}" if named else "", passed="c" if named else value)
    return tvm.script.from_source(text, check_well_formed=False)


def _said(text: str, folder: Path) -> list[Check]:
    path = folder / "printed.py"
    path.write_text(text)
    report = relax_lint.check(str(path), Config(select=("RLX",)))
    assert report.files[0].input.status == "checked"
    return [check for check in report.checks if check.rule in ("RLX301", "RLX302")]


def test_the_text_is_the_same(tmp_path: Path) -> None:
    texts = {_module(extent, named=False).script() for extent in (2, 8)}
    (text,) = texts
    assert f"({OMITTED}[0],)" in text
    found = _said(text, tmp_path)
    assert [(check.verdict, check.assumes) for check in found] == [(Verdict.ALWAYS_FINE, (ASSUMED,))] * 2


@pytest.mark.parametrize("extent", [2, 8])
def test_an_annotation_is_of_the_constant(tmp_path: Path, extent: int) -> None:
    """Wherever it stands, and whatever is expected where the constant is passed."""
    text = _module(extent, named=True).script()
    assert f"= {OMITTED}[0]" in text
    shape = {check.rule: check for check in _said(text, tmp_path)}["RLX301"]
    assert shape.verdict is (Verdict.ALWAYS_FINE if extent == 8 else Verdict.ALWAYS_WRONG)
    assert not shape.assumes
    # Of this TVM's parser says that it is wrong.
    last = f'd: R.Tensor(({extent},), dtype="float32") = {OMITTED}[0]\n        return d'
    behind = text.replace("return y", last).replace("        c: R.Tensor", "        # c")
    found = {check.rule: check for check in _said(behind.replace("(c,)", f"({OMITTED}[0],)"), tmp_path)}
    assert (found["RLX301"].verdict is Verdict.ALWAYS_FINE) == (extent == 8)
    assert extent == 2 or not found["RLX301"].assumes


@pytest.mark.vm
def test_tvm_refuses_one_of_them() -> None:
    tvm.compile(_module(8, named=False), "llvm")
    with pytest.raises(Exception, match=r"[Ss]hape|Tensor"):
        tvm.compile(_module(2, named=False), "llvm")


FEW = "constants {}, which the text omits, have the types that {}"
ONE = "constant {}, which the text omits, has the type that {}"


@pytest.mark.parametrize(
    ("annotated", "assumed"),
    [
        (1, (ONE.format("0", "`f` expects"), FEW.format("2 and 3", "`g` and `inner` return"))),
        (2, (FEW.format("0 and 1", "`f` expects"), ONE.format("3", "`inner` returns"))),
        (3, (FEW.format("0 and 1", "`f` expects"), ONE.format("2", "`g` returns"))),
    ],
)
def test_each_is_told_once(tmp_path: Path, annotated: int, assumed: tuple[str, ...]) -> None:
    found = _said(HEADER + TWO.format(c=OMITTED, annotated=annotated), tmp_path)
    assert {check.assumes for check in found if check.verdict is Verdict.ALWAYS_FINE} == {assumed}


def test_many_are_told_in_short(tmp_path: Path) -> None:
    calls = "".join(
        f"        y{one} = R.call_tir(cls.k, ({OMITTED}[{one}],), out_ty=R.Tensor((8,), dtype='float32'))\n"
        for one in range(1, 30)
    )
    text = _module(8, named=False).script().replace("        return y", calls + "        return y")
    assert {check.assumes for check in _said(text, tmp_path)} == {
        (FEW.format("0, 1, 2 and 27 more", "`k` expects"),)
    }
