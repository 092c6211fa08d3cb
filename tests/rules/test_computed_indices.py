"""Indices that kernels of the module compute: proved, assumed or refuted from what these store, and what runs say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.judging.report import check_module
from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.results.check import Check
from relax_lint.settings.config import Config
from tests.guarded import guarded_machine
from tests.rules.checking import checks, parse

IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"
OPERATORS = """
@R.function
def main({parameters}, w: R.Tensor(({rows}, 4), "float32")):
    with R.dataflow():
{lines}
        z = R.take(w, y, axis=0, mode="fast")
        R.output(z)
    return z
"""
FLOATS = 'x: R.Tensor((8, {}), "float32")'
GIVEN = 'i: R.Tensor(("k",), "int64")'


def legalised(parameters: str, rows: str, *lines: str, sorts: bool = True) -> Any:
    """A module of kernels that compute `y` and take rows of `w` at it; what sorts may stay an operator."""
    body = "\n".join(f"        {line}" for line in lines)
    module = parse(OPERATORS.format(parameters=parameters, rows=rows, lines=body))
    with tvm.target.Target("llvm"):
        if sorts:
            module = relax.backend.DispatchSortScan()(module)
        return relax.transform.LegalizeOps()(module)


def of_take(module: Any) -> tuple[int, tuple[str, ...]]:
    """How many accesses are assumed to be inside, and what is assumed."""
    report = check_module(module, Config(select=("RLX306",)))
    (found,) = report.accesses
    assert (found.wrong, found.undecided) == (0, 0)
    return found.assumed, found.assumptions


PROVED = {
    "clamped": (GIVEN, "10", "y = R.clip(i, 0, 9)"),
    "a remainder": (GIVEN, "10", 'y = R.floor_mod(i, R.const(10, "int64"))'),
    "clamped and moved": (GIVEN, "10", "c = R.clip(i, 0, 8)", 'y = R.add(c, R.const(1, "int64"))'),
    "chosen": (
        GIVEN,
        "10",
        "c = R.clip(i, 0, 8)",
        'y = R.where(R.greater(i, R.const(3, "int64")), c, R.const(9, "int64"))',
    ),
    "two in a row": (
        GIVEN,
        "10",
        "c = R.clip(i, 0, 9)",
        "d = R.concat((c, c), axis=0)",
        "y = R.strided_slice(d, [0], [0], [1], [1])",
    ),
    "in another shape": (GIVEN, "10", "c = R.clip(i, 0, 9)", "y = R.expand_dims(c, 0)"),
    "cast": (
        FLOATS.format(7),
        "7",
        "a = R.argmax(x, axis=-1)",
        'b = R.maximum(a, R.const(0, "int64"))',
        'y = R.astype(b, "int32")',
    ),
    "any number, clamped": (
        'f: R.Tensor(("k",), "float32")',
        "10",
        'c = R.astype(f, "int32")',
        "y = R.clip(c, 0, 8)",
    ),
    "one hot": (GIVEN, "2", "y = R.one_hot(i, R.prim_value(1), R.prim_value(0), 5)"),
    "the first": (FLOATS.format(7), "7", 't = R.topk(x, 3, axis=-1, dtype="int32")', "y = t[1]"),
    "the order": (FLOATS.format(7), "7", 'y = R.argsort(x, axis=-1, dtype="int32")'),
}


@pytest.mark.parametrize("form", PROVED)
def test_what_kernels_keep_inside_is_proved(form: str) -> None:
    assert of_take(legalised(*PROVED[form])) == (0, ())


ASSUMED = {
    # The index is -1 where all numbers are minus infinity.
    "the greatest of nothing": (FLOATS.format(7), "7", "y = R.argmax(x, axis=-1)"),
    "clamped too late": (GIVEN, "10", "y = R.clip(i, 0, 10)"),
    "a negative divisor": (GIVEN, "10", 'y = R.floor_mod(i, R.const(-10, "int64"))'),
    "a signed remainder": (GIVEN, "10", 'y = R.mod(i, R.const(10, "int64"))'),
    "cut off": (GIVEN, "300", "c = R.clip(i, 0, 299)", 'd = R.astype(c, "int8")', 'y = R.astype(d, "int64")'),
    "no number": ('f: R.Tensor(("k",), "float32")', "10", "c = R.clip(f, 0, 8)", 'y = R.astype(c, "int32")'),
    "added up": ('s: R.Tensor((6, 2), "int64")', "10", "c = R.clip(s, 0, 4)", "y = R.sum(c, axis=1)"),
    "fewer than asked for": (
        FLOATS.format('"n"'),
        '"n"',
        't = R.topk(x, 3, axis=-1, dtype="int32")',
        "y = t[1]",
    ),
}


@pytest.mark.parametrize("form", ASSUMED)
def test_what_they_do_not_keep_inside_is_assumed_by_name(form: str) -> None:
    count, assumptions = of_take(legalised(*ASSUMED[form]))
    assert count == 1
    assert assumptions[-1].startswith("`y` within 0..")


def test_what_a_size_decides_is_an_assumption_about_it() -> None:
    maximum = ("a = R.argmax(x, axis=-1)", 'y = R.maximum(a, R.const(0, "int64"))')
    assert of_take(legalised(FLOATS.format('"n"'), '"n"', *maximum)) == (1, ("no reduction is empty",))
    order = 'y = R.argsort(x, axis=-1, dtype="int32")'
    assumed = of_take(legalised(FLOATS.format('"n"'), '"n"', order))
    assert assumed == (1, ("no integer that `argsort` stores wraps around",))


FIRST = 't = R.topk(x, {}, axis=-1, dtype="{}")'
SORTED = {
    "the first": (FLOATS.format(7), "7", FIRST.format(3, "int32"), "y = t[1]", 0),
    "the order": (FLOATS.format(7), "7", 'y = R.argsort(x, axis=1, dtype="int32")', 0),
    "of any number": (FLOATS.format('"n"'), '"n"', 'y = R.argsort(x, axis=1, dtype="int64")', 0),
    "fewer rows": (FLOATS.format(7), "6", 'y = R.argsort(x, axis=1, dtype="int32")', 1),
    "another axis": (FLOATS.format(7), "7", 'y = R.argsort(x, axis=0, dtype="int32")', 1),
    "too narrow": (FLOATS.format(300), "300", 'y = R.argsort(x, axis=1, dtype="int8")', 1),
    "fewer than asked for": (FLOATS.format('"n"'), '"n"', FIRST.format(3, "int32"), "y = t[1]", 1),
}


@pytest.mark.parametrize("form", SORTED)
def test_positions_that_an_operator_finds_are_on_its_axis(form: str) -> None:
    *given, assumed = SORTED[form]
    assert of_take(legalised(*map(str, given), sorts=False))[0] == assumed


def constant_index(module: Any) -> list[tuple[str, str, str | None]]:
    """What RLX308 says."""
    return [(one.verdict.value, one.message, one.safe_when) for one in checks(module, "RLX308")]


FILL = """
@T.prim_func(private=True)
def fill(b: T.handle):
    n = T.int64()
    q = T.match_buffer(b, (n,), "int64")
    for i in range(n):
        q[i] = {}

@T.prim_func(private=True)
def gather(a: T.handle, c: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    where = T.match_buffer(c, (m,), "int64")
    y = T.match_buffer(b, (m,), "float32")
    for i in range(m):
        y[i] = {}

@R.function
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
    n = T.int64()
    q = R.call_tir(Module.fill, (), R.Tensor((4,), "int64"))
    y = R.call_tir(Module.gather, (x, q), R.Tensor((4,), "float32"))
    return y
"""


@pytest.mark.parametrize(
    ("value", "load", "safe"),
    [
        ("i", "x[where[i]]", "n >= 4"),
        ("n - i", "x[where[i]]", "n >= 5"),
        ("i // 2", "x[where[i]]", None),
        ("i", "x[where[0]]", None),
        ("i", "T.if_then_else(i < 2, x[where[i]], T.float32(0))", None),
    ],
)
def test_indices_that_reach_their_ends_are_judged(value: str, load: str, safe: str | None) -> None:
    found = constant_index(parse(FILL.format(value, load)))
    assert [safe_when for _, _, safe_when in found] == ([] if safe is None else [safe])
    if safe is not None:
        assert found[0][:2] == (
            "needs-runtime-check",
            f"the computed indices {_ends(value)} may be outside axis 0 of `x`",
        )


def test_axes_of_one_element_make_no_difference() -> None:
    text = (
        FILL.format("i", "x[where[0, 0, i]]")
        .replace("q[i]", "q[0, 0, i]")
        .replace('R.Tensor((4,), "int64")', 'R.Tensor((1, 1, 4), "int64")')
    )
    for name, extent in (("b", "n"), ("c", "m")):
        text = text.replace(f'({name}, ({extent},), "int64")', f'({name}, (1, 1, {extent}), "int64")')
    assert [safe for _, _, safe in constant_index(parse(text))] == ["n >= 4"]


def _ends(value: str) -> str:
    return {"i": "0 to 3", "n - i": "1 to 4"}[value]


def concrete(text: str, rows: int) -> str:
    """The module for an `x` of so many elements."""
    head, _, main = text.partition("@R.function")
    main = main.replace('("n",)', f"({rows},)").replace("    n = T.int64()\n", "")
    return f"{head}@R.function{main}"


def test_not_every_element_of_a_constant_is_an_index() -> None:
    text = concrete(FILL.format("i", "x[where[0]]"), 4).replace(
        'R.call_tir(Module.fill, (), R.Tensor((4,), "int64"))', 'R.const([0, 9, 9, 9], "int64")'
    )
    assert constant_index(parse(text)) == []
    (check,) = checks(parse(text), "RLX306")
    # That `q` is within 0..3 is not assumed: it is not.
    assert (check.verdict.value, check.assumes) == ("needs-runtime-check", ())
    assert "which elements of `q` are indices is not known" in check.message


CHANGED = {
    "by a kernel": "_ = Module.scribble(q)",
    "in place": 'r = R.call_tir_inplace(Module.scribble, (q,), inplace_indices=[0], out_ty=R.Tensor((4,), "int64"))',
    "by nobody knows whom": '_ = R.call_packed("scribble", q, ty_args=[R.Tuple()])',
}
SCRIBBLE = """
@T.prim_func(private=True)
def scribble(c: T.handle):
    where = T.match_buffer(c, (4,), "int64")
    where[0] = T.int64(100)
"""


def assumed(module: Any) -> tuple[str, ...]:
    """What is assumed of the calls of kernels."""
    return tuple(text for check in checks(module, "RLX306") for text in check.assumes)


@pytest.mark.parametrize("how", CHANGED)
def test_what_is_overwritten_in_between_is_not_known(how: str) -> None:
    text = concrete(FILL.format("i % 4", "x[where[i]]"), 4)
    text = text.replace("@R.function\n", "@R.function(pure=False)\n")
    assert assumed(parse(text)) == ()
    changed = text.replace("    y = R.call", f"    {CHANGED[how]}\n    y = R.call")
    assert assumed(parse(SCRIBBLE + changed)) == ("`q` within 0..3 (indices of `gather`, not checked)",)


def test_what_either_branch_stores_may_be_seen() -> None:
    text = concrete(FILL.format("i", "x[where[i]]"), 8)
    text = text.replace("def main(", 'def main(c: R.Tensor((), "bool"), ')
    joined = """\
    if c:
        q = R.call_tir(Module.fill, (), R.Tensor((4,), "int64"))
    else:
        q = R.call_tir(Module.{}, (), R.Tensor((4,), "int64"))
    y = R.call"""
    before = '    q = R.call_tir(Module.fill, (), R.Tensor((4,), "int64"))\n    y = R.call'
    far = FILL[: FILL.index("@T.prim_func(private=True)\ndef gather")].replace("def fill", "def far")
    assert assumed(parse(text.replace(before, joined.format("fill")))) == ()
    module = parse(far.format("i + 5") + text.replace(before, joined.format("far")))
    assert assumed(module) == ("`q` within 0..7 (indices of `gather`, not checked)",)


PARTLY = "s = T.alloc_buffer((n,), 'int64')\n    for i in range({}):\n        s[i] = i % n\n    for i in range(n):\n        q[i] = {}"


@pytest.mark.parametrize(
    ("extent", "value", "known"),
    [("n", "s[i]", True), ("n // 2", "s[i]", False), ("n", "s[n - 1 - i]", True), ("n - 1", "s[0]", False)],
)
def test_what_nothing_has_stored_is_any_number(extent: str, value: str, known: bool) -> None:
    text = FILL.format("0", "x[where[i]]").replace(
        "for i in range(n):\n        q[i] = 0", PARTLY.format(extent, value)
    )
    module = parse(concrete(text, 4))
    assert (assumed(module) == ()) is known


def test_a_name_in_a_dataflow_block_is_no_value_of_its_own() -> None:
    text = """
    @R.function
    def main(x: R.Tensor((2, "n"), "float32")):
        with R.dataflow():
            t = R.topk(x, 3, axis=-1, ret_type="indices", dtype="int32")
            z = t
            R.output(z)
        return z
    """
    (check,) = checks(parse(text), "RLX205")
    assert (check.verdict.value, check.safe_when) == ("needs-runtime-check", "n >= 3")


TOP = """
@R.function
def main(x: R.Tensor((2, {n}), "float32")):
    with R.dataflow():
        t = R.topk(x, 3, axis=-1, ret_type="{kind}", dtype="int32")
        z = R.add({of}, {of})
        R.output(z)
    return z
"""


@pytest.mark.parametrize("lowered", [False, True])
@pytest.mark.parametrize(
    ("kind", "of"), [("both", "t[0]"), ("both", "t[1]"), ("indices", "t"), ("values", "t")]
)
@pytest.mark.parametrize(("n", "safe"), [('"n"', "n >= 3"), ("2", None), ("3", ""), ("4", "")])
def test_topk_writes_no_more_than_there_is(
    n: str, safe: str | None, kind: str, of: str, lowered: bool
) -> None:
    module = parse(TOP.format(n=n, kind=kind, of=of))
    if lowered:
        with tvm.target.Target("llvm"):
            module = relax.transform.LegalizeOps()(relax.backend.DispatchSortScan()(module))
    found: list[Check] = checks(module, "RLX205")
    findings = [check for check in found if check.severity.value != "none"]
    assert [check.safe_when for check in findings] == ([] if safe == "" else [safe])


machine = pytest.fixture(guarded_machine)


@pytest.mark.vm
@pytest.mark.parametrize("n", [16, 32])
def test_a_filled_index_is_what_the_guard_sees(n: int, machine: Machine) -> None:
    text = "@I.ir_module\nclass Module:\n" + "\n".join(
        f"    {line}" for line in FILL.format("i", "x[where[i]]").replace("(4,)", "(32,)").splitlines()
    )
    result = machine.run(Module(IMPORTS + text), "main", [Tensor("float32", (n,))], allocator="naive")
    assert (result.outcome is Outcome.OK and result.damage is None) is (n >= 32)


EXTREMES = {
    "int64": [-(2**63), 2**63 - 1, -1, 0, 12],
    "float32": [float("nan"), float("-inf"), float("inf"), -1e30, 3.7],
}


@pytest.mark.vm
@pytest.mark.parametrize("form", [form for form in PROVED if PROVED[form][0] != FLOATS.format(7)])
def test_what_was_proved_is_inside_whatever_the_numbers(form: str) -> None:
    parameters, rows, *lines = PROVED[form]
    dtype = "float32" if "float32" in parameters else "int64"
    built = tvm.compile(_indices_only(parameters, *lines), target="llvm")
    machine = relax.VirtualMachine(built, tvm.cpu())
    y = machine["main"](tvm.runtime.tensor(np.array(EXTREMES[dtype], dtype))).numpy()
    assert y.min() >= 0
    assert y.max() < int(rows)


@pytest.mark.vm
def test_the_greatest_of_minus_infinities_is_nowhere() -> None:
    built = tvm.compile(_indices_only(FLOATS.format(7), "y = R.argmax(x, axis=-1)"), target="llvm")
    machine = relax.VirtualMachine(built, tvm.cpu())
    assert machine["main"](tvm.runtime.tensor(np.full((8, 7), -np.inf, "float32"))).numpy().min() == -1


def _indices_only(parameters: str, *lines: str) -> Any:
    """A module that returns the indices."""
    body = "\n".join(f"        {line}" for line in lines)
    text = OPERATORS.replace(', w: R.Tensor(({rows}, 4), "float32")', "").replace(
        'z = R.take(w, y, axis=0, mode="fast")\n        R.output(z)\n    return z',
        "R.output(y)\n    return y",
    )
    return parse(text.format(parameters=parameters, lines=body))
