"""When values are needed for the last time, and when the VM lets go of them."""

# TVMScript looks like Python but is not: every binding counts, also one that nothing reads.
# ruff: noqa: F841, RET504

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.liveness import ENTRY, Releases, inserted_kills, last_uses, operands, values_read
from relax_lint.model.builder import build_program
from relax_lint.model.operations import FunctionCall, Kill
from relax_lint.model.program import Function
from relax_lint.totals.inlined import paths_of
from relax_lint.totals.plans import Plans
from relax_lint.totals.walk import Inventory
from tests.programs import transformer
from tests.rules.checking import parse
from tests.totals.cases import Case
from tests.totals.corpus import CASES
from tests.totals.metering import allocating


def main_of(module: Any) -> Function:
    return next(f for f in build_program(module).functions if f.name == "main")


def after(function: Function, releases: Releases) -> dict[str, set[str]]:
    """The names let go after each binding, by its name; ENTRY as ''."""
    bindings = {op.place.index: op.place.binding for op in function.body.walk()} | {ENTRY: ""}
    return {
        bindings[index]: {function.values[value].name for value in values}
        for index, values in releases.after.items()
        if values
    }


@I.ir_module
class Straight:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), unread: R.Tensor((4,), "float32")):
        a = R.call_packed("f", x, ty_args=R.Tensor((4,), "float32"))
        unused = R.call_packed("f", x, ty_args=R.Tensor((4,), "float32"))
        b = a
        c = R.call_packed("g", b, x, ty_args=R.Tensor((4,), "float32"))
        d = R.call_packed("h", (a, c), ty_args=R.Tensor((4,), "float32"))
        return (d, c)


def test_last_uses_are_a_matter_of_the_program() -> None:
    function = main_of(Straight)
    assert after(function, last_uses(function)) == {
        "": {"unread"},
        "unused": {"unused"},
        "c": {"x", "b"},
        "d": {"a"},
    }


def test_kills_are_a_matter_of_registers() -> None:
    function = main_of(Straight)
    # `b` is `a`. Parameters stay, and so does what nothing uses.
    assert after(function, inserted_kills(function, Aliases(function))) == {"d": {"a"}}


@I.ir_module
class Branches:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        a = R.call_packed("f", x, ty_args=R.Tensor((4,), "float32"))
        b = R.call_packed("f", a, ty_args=R.Tensor((4,), "float32"))
        if c:
            d = R.call_packed("g", a, ty_args=R.Tensor((4,), "float32"))
            e = R.call_packed("g", d, ty_args=R.Tensor((4,), "float32"))
            r = e
        else:
            r = R.call_packed("h", b, ty_args=R.Tensor((4,), "float32"))
        s = R.call_packed("k", r, ty_args=R.Tensor((4,), "float32"))
        return s


def test_what_only_the_other_branch_needs_dies_on_entry() -> None:
    function = main_of(Branches)
    releases = last_uses(function)
    on_entry = {
        taken: {function.values[value].name for value in values}
        for (_, taken), values in releases.on_entry.items()
    }
    assert on_entry == {True: {"b", "c"}, False: {"a", "c"}}
    assert after(function, releases)["d"] == {"a"}
    assert after(function, releases)["s"] == {"r"}


def test_no_kill_is_added_behind_a_branch() -> None:
    function = main_of(Branches)
    # Only `d`, inside its own branch. `a` and `b` are used in branches, `r` behind them.
    assert after(function, inserted_kills(function, Aliases(function))) == {"e": {"d"}}


@I.ir_module
class Lowered:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        a = R.call_packed("f", x, ty_args=R.Tensor((4,), "float32"))
        b = R.call_packed("f", a, ty_args=R.Tensor((4,), "float32"))
        k = R.vm.kill_object(a)
        c = R.call_packed("f", b, ty_args=R.Tensor((4,), "float32"))
        return c


def test_a_lowered_function_keeps_the_kills_it_has() -> None:
    function = main_of(Lowered)
    assert inserted_kills(function, Aliases(function)) == Releases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_added_kills_let_go_when_those_of_tvm_do(case: Case) -> None:
    with tvm.target.Target("llvm"):
        module = allocating(planned=case.planned)(case.make())
        killed = relax.transform.KillAfterLastUse()(module)
    assert events(module, case.entry) == events(killed, case.entry)


def test_every_register_that_tvm_kills_in_a_transformer_is_let_go() -> None:
    planned = transformer.lowered(2, bounded=True, stage="planned")
    allocated = relax.transform.LowerAllocTensor()(planned)
    killed = relax.transform.KillAfterLastUse()(allocated)
    function = next(f for f in build_program(allocated).functions if f.name == "forward")
    ours = inserted_kills(function, Aliases(function))
    added = Counter(function.values[value].name for values in ours.after.values() for value in values)
    other = next(f for f in build_program(killed).functions if f.name == "forward")
    theirs = Counter(other.values[op.target].name for op in other.body.walk() if isinstance(op, Kill))
    assert added == theirs
    assert sum(theirs.values()) > 50


def events(module: Any, entry: str) -> list[tuple[list[int], list[str]]]:
    """What the walks of a function allocate and let go, the sizes included."""
    program = build_program(module)
    function = next(f for f in program.functions if f.name == entry)
    walks = paths_of(Plans(program), function, Inventory.STORAGES)
    return [(walk.events, [str(allocation.size) for allocation in walk.allocations]) for walk in walks]


NAMES = "abcde"
READS = """\
@R.function(pure=False)
def main(a: R.Object, b: R.Object, c: R.Object, d: R.Object, e: R.Tensor((), "bool")):
    {}
"""


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        ("return a", "a"),
        ("return (a, b)", "ab"),
        ("return (a, (b, (c,)))", "abc"),
        ('v = R.call_packed("f", a, (b, (c,)), ty_args=[R.Object])\nreturn d', "abcd"),
        ("v = a\nw = (v, (c,))\nreturn (w, d)", "acd"),
        # Before names are removed a branch gives a name of its own; afterwards the value.
        ("if e:\n    v = a\nelse:\n    v = b\nreturn d", "abde"),
        ("if e:\n    v = (a, (b,))\nelse:\n    v = (a, (c,))\nreturn d", "abcde"),
        ("_ = R.vm.kill_object(a)\nreturn b", "b"),
    ],
)
@pytest.mark.parametrize("canonical", [False, True])
def test_the_values_that_are_read(lines: str, read: str, canonical: bool) -> None:
    text = READS.format(lines.replace("\n", "\n    "))
    module = parse(text)
    if canonical:
        module = relax.transform.CanonicalizeBindings()(module)
    function = main_of(module)
    names = {function.values[value].name for value in values_read(function)}
    assert names & set(NAMES) == set(read)


@pytest.mark.parametrize(
    ("call", "read"),
    [("f(x)", "x"), ("g(x)", "gx"), ("Module.other(x)", "x")],
)
def test_a_function_that_is_known_is_a_name_and_no_value(call: str, read: str) -> None:
    """`f` is written inside, `g` comes from the caller."""
    module = parse(f"""
@R.function(private=True)
def other(y: R.Object) -> R.Object:
    return y

@R.function(pure=False)
def main(x: R.Object, g: R.Callable((R.Object,), R.Object, False)) -> R.Object:
    @R.function
    def f(y: R.Object) -> R.Object:
        return y
    v: R.Object = {call}
    return v
""")
    function = main_of(module)
    (found,) = function.body.of(FunctionCall)
    assert {function.values[value].name for value in operands(found, function)} == set(read)
