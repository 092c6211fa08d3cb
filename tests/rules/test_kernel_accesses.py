"""RLX306 on whole modules: verdicts against runs, assumptions, and what the report counts."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import indent

import pytest
import sympy
import tvm

import relax_lint
from relax_lint.output.json import render_json
from relax_lint.output.text import render_text
from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.settings.config import Config
from tests.guarded import guarded_machine
from tests.rules.checking import checks, findings, parse

IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"
MODULE = """
@I.ir_module
class Module:
    @T.prim_func(private=True{blocks})
    def fill(a: T.handle, b: T.handle):
        n = T.int64()
        m = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (m,), "float32")
{body}

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
        n = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        alloc = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
        _ = Module.fill(x, alloc)
        return alloc
"""
WRITES = {
    "plain": "for i in range(n):\n    y[i] = T.float32(1)",
    "guarded": "for i in range(n):\n    if i < m:\n        y[i] = T.float32(1)",
    "guarded by another index": "for i in range(n):\n    if i < m:\n        y[i + 2] = T.float32(1)",
    "tiles": "for i, t in T.grid((n + 3) // 4, 4):\n    y[i * 4 + t] = T.float32(1)",
    "tiles with a tail": (
        "for i, t in T.grid((n + 3) // 4, 4):\n    if i * 4 + t < m:\n        y[i * 4 + t] = T.float32(1)"
    ),
    "clamped": "for i in range(n):\n    y[T.min(i, m - 1)] = T.float32(1)",
    "vectors": "for i in range(n // 4):\n    y[T.ramp(i * 4, 1, 4)] = x[T.ramp(i * 4, 1, 4)]",
    "unravelled": "for i in range(n * 2):\n    y[i // 2] = T.float32(1)",
    "steps": "for i in T.serial(0, n, step=3):\n    y[i + 2] = T.float32(1)",
    "left": "for i in range(n):\n    if i >= m:\n        break\n    y[i] = T.float32(1)",
    "reversed": "for i in range(n):\n    y[n - 1 - i] = T.float32(1)",
    "remainders": "for i in range(n):\n    y[i % 6] = T.float32(1)",
    "predicate": (
        'for i in range(n):\n    with T.sblock("b"):\n        v = T.axis.spatial(m, i)\n'
        "        T.where(i < m)\n        y[v] = T.float32(1)"
    ),
}


def module_text(body: str) -> str:
    """The module that calls a kernel with this body."""
    blocks = ", s_tir=True" if "sblock" in body else ""
    return MODULE.format(blocks=blocks, body=indent(body, "        "))


machine = pytest.fixture(guarded_machine)


@pytest.mark.vm
@pytest.mark.parametrize("form", WRITES)
def test_the_safe_region_is_what_the_guard_sees(form: str, machine: Machine) -> None:
    text = module_text(WRITES[form])
    found = findings(tvm.script.from_source(text, check_well_formed=False), "RLX306")
    region = None
    if found:
        (check,) = found
        assert check.safe_when is not None
        region = check.safe_when.replace(" and ", " & ").replace("==", "=")
    for n in (1, 2, 3, 4, 5, 8, 9):
        result = machine.run(Module(IMPORTS + text), "main", [Tensor("float32", (n,))], allocator="naive")
        fine = region is None or bool(sympy.sympify(region, {"n": n}))
        assert (result.outcome is Outcome.OK and result.damage is None) == fine, (n, region, result)


GATHER = """
@T.prim_func(private=True)
def gather(a: T.handle, c: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    where = T.match_buffer(c, (m,), "int32")
    y = T.match_buffer(b, (m,), "float32")
    for i in range(m):
        y[i] = {}

@R.function
def main(x: R.Tensor(("n",), "float32"), indices: R.Tensor((3,), "int32")) -> R.Tensor((3,), "float32"):
    n = T.int64()
    y = R.call_tir(Module.gather, (x, {}), R.Tensor((3,), "float32"))
    return y
"""
GUARDED = "T.if_then_else(where[i] >= 0 and T.Cast('int64', where[i]) < n, x[where[i]], T.float32(0))"


def test_an_index_from_data_is_an_assumption_with_a_name() -> None:
    module = parse(GATHER.format("x[where[i]]", "indices"))
    (check,) = checks(module, "RLX306")
    assert (check.verdict.value, check.severity.value) == ("always-fine", "none")
    assert check.assumes == ("`indices` within 0..n - 1 (indices of `gather`, not checked)",)
    assert checks(parse(GATHER.format(GUARDED, "indices")), "RLX306") == []


def test_strict_reports_what_nothing_checks() -> None:
    (check,) = relax_lint.check(
        parse(GATHER.format("x[where[i]]", "indices")), {"select": ["RLX306"], "strict": True}
    ).findings
    assert (check.severity.value, check.undecided, check.assumes) == ("warning", True, ())
    assert check.message.endswith("it assumes `indices` within 0..n - 1 (indices of `gather`, not checked)")


def test_strict_raises_what_is_undecided() -> None:
    text = GATHER.format("x[T.bitwise_xor(where[i], where[0])]", "indices")
    loud = {}
    for strict in (False, True):
        (check,) = relax_lint.check(parse(text), {"select": ["RLX306"], "strict": strict}).findings
        loud[strict] = check.severity.value
    assert loud == {False: "note", True: "warning"}


def test_a_constant_is_no_assumption() -> None:
    module = parse(GATHER.format("x[where[i]]", 'R.const([0, 2, 1], "int32")'))
    (check,) = checks(module, "RLX306")
    assert (check.verdict.value, check.assumes) == ("always-fine", ())
    (constant,) = findings(module, "RLX308")
    assert constant.safe_when == "n >= 3"


@pytest.mark.parametrize(
    "change",
    [
        "_ = Module.scribble(k)",
        'k2 = R.call_tir_inplace(Module.scribble, (k,), inplace_indices=[0], out_ty=R.Tensor((3,), "int32"))',
        # What it does with its argument is not known.
        '_ = R.call_packed("some.function", k, ty_args=R.Tuple)',
    ],
)
def test_a_constant_that_is_overwritten_is_one(change: str) -> None:
    text = GATHER.replace("@R.function\n", "@R.function(pure=False)\n")
    text = text.replace(
        "    y = R.call", f"    k = R.const([0, 2, 1], 'int32')\n    {change}\n    y = R.call"
    )
    scribble = """
@T.prim_func(private=True)
def scribble(c: T.handle):
    where = T.match_buffer(c, (3,), "int32")
    where[0] = 100
"""
    module = parse(scribble + text.format("x[where[i]]", "k"))
    (check,) = checks(module, "RLX306")
    assert check.assumes == ("`k` within 0..n - 1 (indices of `gather`, not checked)",)
    assert checks(module, "RLX308") == []


PURE = 'R.call_pure_packed("some.function", {}, ty_args=R.Tensor((3,), "int32"))'


@pytest.mark.parametrize(
    ("changes", "assumed"),
    [
        ((), ""),
        (("a = " + PURE.format("k"), "_ = Module.scribble(a)"), "k"),
        (("a = " + PURE.format("l"), "_ = Module.scribble(a)"), "l"),
        # Pure calls keep nothing: what the second one returns is not what the first one was given.
        (("a = " + PURE.format("k"), "b = " + PURE.format("l"), "_ = Module.scribble(a)"), "k"),
        (("a = " + PURE.format("k"), "b = " + PURE.format("l"), "_ = Module.scribble(b)"), "l"),
        (("a = " + PURE.format("k"), "_ = Module.scribble(a)", "b = " + PURE.format("l")), "k"),
        (
            (
                *("a = " + PURE.format("k"), "_ = Module.scribble(a)"),
                *("b = " + PURE.format("l"), "_1 = Module.scribble(b)"),
            ),
            "kl",
        ),
        (('_ = R.call_packed("some.function", k, ty_args=R.Tuple)', "_1 = Module.scribble(l)"), "kl"),
    ],
)
def test_which_of_two_constants_may_be_overwritten_under_another_name(
    changes: tuple[str, ...], assumed: str
) -> None:
    text = GATHER.replace("@R.function\n", "@R.function(pure=False)\n").format("x[where[i]]", "l")
    first = 'z = R.call_tir(Module.gather, (x, k), R.Tensor((3,), "float32"))'
    lines = ["k = R.const([0, 2, 1], 'int32')", "l = R.const([1, 2, 0], 'int32')", *changes, first]
    text = text.replace("    y = R.call", "".join(f"    {line}\n" for line in lines) + "    y = R.call")
    scribble = """
@T.prim_func(private=True)
def scribble(c: T.handle):
    where = T.match_buffer(c, (3,), "int32")
    where[0] = 100
"""
    found = [text for one in checks(parse(scribble + text), "RLX306") for text in one.assumes]
    said = [f"`{name}` within 0..n - 1 (indices of `gather`, not checked)" for name in assumed]
    assert [one for one in found if "within" in one] == said


def test_a_constant_that_is_only_read_is_none() -> None:
    text = GATHER.replace("@R.function\n", "@R.function(pure=False)\n")
    call = 'w = R.call_pure_packed("some.function", k, ty_args=R.Tensor((3,), "int32"))'
    text = text.replace("    y = R.call", f"    k = R.const([0, 2, 1], 'int32')\n    {call}\n    y = R.call")
    (check,) = checks(parse(text.format("x[where[i]]", "k")), "RLX306")
    assert (check.verdict.value, check.assumes) == ("always-fine", ())


def test_the_report_counts_every_access() -> None:
    module = parse(GATHER.format("x[where[i]]", "indices"))
    report = relax_lint.check(module, Config(select=("RLX306",)))
    (found,) = report.accesses
    assert (found.function, found.proved, found.assumed, found.total) == ("main", 2, 1, 3)
    written = json.loads(render_json(report))["accesses"][0]
    assert written["assumptions"] == ["`indices` within 0..n - 1 (indices of `gather`, not checked)"]
    text = render_text(report)
    assert "main: 2 proved, 1 assumed" in text
    assert relax_lint.check(module, Config(select=("RLX301",))).accesses == ()


def test_what_is_undecided_is_a_note_with_the_reason() -> None:
    body = "for i in range(n):\n    if x[0] > T.float32(0):\n        y[i] = T.float32(1)"
    module = tvm.script.from_source(module_text(body), check_well_formed=False)
    report = relax_lint.check(module, Config(select=("RLX306",)))
    (check,) = report.findings
    assert (check.severity.value, check.undecided) == ("note", True)
    assert "it is under a condition that depends on data" in check.message
    assert dict(report.accesses[0].reasons) == {"it is under a condition that depends on data": 1}


def test_a_finding_names_the_step_that_is_outside() -> None:
    body = "for i in range(n):\n    if i < m:\n        y[i + 2] = T.float32(1)"
    module = tvm.script.from_source(module_text(body), check_well_formed=False)
    (check,) = findings(module, "RLX306")
    assert check.safe_when == "n <= 2"
    assert check.notes == (
        "with n = 3, `y[i + T.int64(2)]` in `fill` has index 4 on an axis of 4 where i = 2",
    )
    assert any("guard `y[i + T.int64(2)]`" in line for line in check.help)


LOADS = """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def shift(a: T.handle, b: T.handle):
        n = T.int64()
        m = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (m,), "float32")
        for i in range(m):
            y[i] = T.if_then_else(i < n, x[i], T.float32(0)) + x[i + 1]
            y[i] += x[0]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.call_tir(Module.shift, (x,), R.Tensor((4,), "float32"))
        return y
"""


def test_the_access_is_shown_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(LOADS, encoding="utf-8")
    (check,) = relax_lint.check(str(path), Config(select=("RLX306",))).findings
    assert check.verdict.value == "always-wrong"
    (related,) = check.related
    assert related.message == "the access: index 4 on an axis of 4 where i = 3"
    place = related.location
    assert place is not None
    line = LOADS.splitlines()[place.line - 1]
    assert line[place.column - 1 : place.end_column - 1] == "x[i + 1]"
