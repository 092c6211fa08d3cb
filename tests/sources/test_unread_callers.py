"""What was not read may call every function that it names: the calls that are seen are not all that there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from relax_lint.judging.report import check_parsed
from relax_lint.results.check import Check
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.settings.config import Config
from relax_lint.sources.lowering import lower_unit
from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit
from relax_lint.vm.versions import is_private, relax_functions

IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"
UNKNOWN = "from mine import K\n"
BRANCHES = """
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        q = R.memory.alloc_storage(R.shape([8]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        if c:
            t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
            z = t
        else:
            u = R.memory.alloc_tensor(q, R.prim_value(0), R.shape([4]), R.dtype("float32"))
            z = u
        return z
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        y = cls.f(x, R.const(True, "bool"))
        return y
"""
SIZES = """
    @R.function(private=True)
    def f(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        u = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n]), R.dtype("float32"))
        return u
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        y = cls.f(x)
        return y
"""
GIVEN = """
    @R.function({private})
    def f(s: R.Object):
        u = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        return u
    @R.function(private=True)
    def between(s: R.Object):
        cls = M
        u = cls.f(s)
        return u
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        y = cls.between(s)
        return y
"""
OTHER = """
    @R.function
    def other(x: R.Tensor((4,), "float32")):
        cls = M
{0}
        return w
"""
STORAGE = 'R.memory.alloc_storage(R.shape([K]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'


def other(*lines: str) -> str:
    return OTHER.format("\n".join(f"        {line}" for line in lines))


def with_zeros(function: Callable[..., Any], size: int) -> Any:
    return function(relax.op.zeros((size,), "float32"))


# The module, and the values of K with which it fails and with which it does not.
CALLERS: Mapping[str, tuple[str, object, object]] = {
    "a condition": (BRANCHES + other('w = cls.f(x, R.const(K, "bool"))'), False, True),
    "a size": (SIZES + other("w = cls.f(R.zeros(R.shape([K]), 'float32'))"), 400, 4),
    "a size in a branch": (
        SIZES
        + other(
            'if R.const(True, "bool"):',
            "    w = cls.f(R.zeros(R.shape([K]), 'float32'))",
            "else:",
            "    w = cls.f(x)",
        ),
        400,
        4,
    ),
    "by the name of the module": (SIZES + other("w = M.f(R.zeros(R.shape([K]), 'float32'))"), 400, 4),
    "in an inner function": (
        SIZES
        + other(
            "@R.function",
            'def inner(z: R.Tensor((4,), "float32")):',
            "    v = cls.f(R.zeros(R.shape([K]), 'float32'))",
            "    return v",
            "w = inner(x)",
        ),
        400,
        4,
    ),
    "in a function that is not read": (
        SIZES + other("w = cls.f(R.zeros(R.shape([400]), 'float32'))").replace("@R.function", "@K"),
        R.function,
        None,
    ),
    "handed on": (
        SIZES + other("w = K(cls.f)"),
        lambda f: with_zeros(f, 400),
        lambda f: with_zeros(f, 4),
    ),
    "by another name": (
        SIZES + other("g = cls.f", "w = g(R.zeros(R.shape([K]), 'float32'))"),
        400,
        4,
    ),
    "with the module": (
        SIZES + other("w = K(cls)"),
        lambda module: with_zeros(module.f, 400),
        lambda module: with_zeros(module.f, 4),
    ),
    "a storage": (GIVEN.format(private="private=True") + other(f"w = cls.f({STORAGE})"), 8, 16),
    "a storage, by others": (
        GIVEN.format(private="private=True") + other(f"w = cls.between({STORAGE})"),
        8,
        16,
    ),
    "a storage of a public function": (GIVEN.format(private="") + other(f"w = cls.f({STORAGE})"), 8, 16),
}


def unit_of(text: str) -> ParsedUnit:
    (unit,) = read_units(text.encode(), "m.py").units
    found = read_unit(unit)
    assert isinstance(found, ParsedUnit)
    return found


def module(body: str, before: str = UNKNOWN) -> str:
    return f"{IMPORTS}{before}@I.ir_module\nclass M:\n{body}"


def checks(text: str, rule: str = "RLX101") -> list[Check]:
    found = check_parsed(unit_of(text), "m.py", Config(select=(rule,))).checks
    return [check for check in found if check.rule == rule]


def about(text: str) -> Check:
    """The one check on the tensor `u`."""
    (found,) = [check for check in checks(text) if check.binding == "u" and check.function == "f"]
    return found


@pytest.mark.parametrize("caller", CALLERS)
def test_what_is_not_read_may_call_it_with_anything(caller: str) -> None:
    found = about(module(CALLERS[caller][0]))
    assert found.verdict is Verdict.NEEDS_RUNTIME_CHECK
    assert found.undecided


@pytest.mark.parametrize("caller", [one for one in CALLERS if "public" not in one])
def test_the_dependence_is_told(caller: str) -> None:
    text = module(CALLERS[caller][0])
    unit, found = unit_of(text), about(text)
    assert {"f", "other"} <= unit.depends.keys()
    assert "main" not in unit.depends
    assert found.severity is Severity.NOTE
    assert any("treated as unknown" in fact for fact in found.assumes)


@pytest.mark.vm
@pytest.mark.parametrize("caller", CALLERS)
def test_the_machine_decides_by_what_is_not_read(caller: str) -> None:
    body, wrong, right = CALLERS[caller]
    with pytest.raises(Exception, match="storage allocation failure"):
        run(body, wrong)
    if right is not None:
        run(body, right)


def run(body: str, value: object) -> None:
    text = f"@I.ir_module\nclass M:\n{body}"
    names = {"I": I, "R": R, "T": T, "K": value}
    built = tvm.script.from_source(text, extra_vars=names, check_well_formed=False)
    built = relax.transform.LambdaLift()(built)
    machine = relax.VirtualMachine(tvm.compile(built, "llvm"), tvm.cpu(), memory_cfg="naive")
    machine["other"](tvm.runtime.tensor(np.zeros(4, "float32")))


@pytest.mark.parametrize("caller", ["a size", "a size in a branch", "a storage", "a storage, by others"])
def test_all_calls_that_are_read_are_all_there_are(caller: str) -> None:
    body, wrong, right = CALLERS[caller]
    found = about(module(body, f"K = {right}\n"))
    assert (found.verdict, found.assumes) == (Verdict.ALWAYS_FINE, ())
    assert about(module(body, f"K = {wrong}\n")).verdict is not Verdict.ALWAYS_FINE


def test_what_no_call_gets_to_is_not_judged() -> None:
    body, _, right = CALLERS["a condition"]
    assert [check.binding for check in checks(module(body, f"K = {right}\n"))] == ["t"]


APART = {
    "an unknown function": "w = K(x)",
    "an attribute of that name": "w = K(x.f)",
    "an operator of that name": "w = R.f(x)",
    "a local of that name": "f = R.add(x, x); w = K(f)",
}


@pytest.mark.parametrize("apart", APART)
def test_what_does_not_name_it_is_not_a_caller(apart: str) -> None:
    text = module(SIZES + other(*APART[apart].split("; ")))
    found = about(text)
    assert (found.verdict, found.assumes) == (Verdict.ALWAYS_FINE, ())
    assert set(unit_of(text).depends) == {"other"}


def test_a_public_function_was_for_anybody_before() -> None:
    text = module((SIZES + other("w = cls.f(K)")).replace("(private=True)", ""))
    found = about(text)
    assert (found.safe_when, found.severity) == ("n <= 4", Severity.WARNING)
    assert found.assumes == about(text.replace("cls.f(K)", "K(x)")).assumes == ()


def test_a_call_that_is_seen_stays_wrong() -> None:
    text = module(SIZES + other("w = cls.f(R.zeros(R.shape([K]), 'float32'))"))
    found = about(text.replace("x: R.Tensor((4,)", "x: R.Tensor((8,)"))
    assert (found.verdict, found.severity) == (Verdict.NEEDS_RUNTIME_CHECK, Severity.WARNING)


def test_what_is_wrong_for_all_callers_stays_wrong() -> None:
    body = BRANCHES.replace("R.shape([16])", "R.shape([8])") + other('w = cls.f(x, R.const(K, "bool"))')
    found = {check.binding: check for check in checks(module(body))}
    assert (found["t"].verdict, found["t"].severity) == (Verdict.ALWAYS_WRONG, Severity.ERROR)
    assert (found["u"].verdict, found["u"].severity) == (Verdict.NEEDS_RUNTIME_CHECK, Severity.NOTE)


KILLED = """
    @R.function(private=True, pure=False)
    def f(x: R.Tensor((4,), "float32")):
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        u = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        _ = R.memory.kill_tensor(u)
        return u
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        y = cls.f(x)
        return x
"""


def test_what_is_not_read_may_use_the_result() -> None:
    def verdicts(line: str) -> set[Verdict]:
        return {check.verdict for check in checks(module(KILLED + other(line)), "RLX201")}

    assert verdicts("w = K(x)") == {Verdict.ALWAYS_FINE}
    assert verdicts("w = K(cls.f(x))") == {Verdict.NEEDS_RUNTIME_CHECK}


INNER = """
    @T.prim_func(private=True)
    def add1(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i] + T.float32(1)
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        t = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        @R.function(pure=False)
        def inner(y: R.Tensor((4,), "float32")):
            _ = cls.add1(y, t)
            return y
        z = {0}
        w = R.add(t, x)
        return w
"""


def test_what_is_not_read_may_write_what_an_inner_function_captures() -> None:
    found = checks(module(INNER.format("inner(K(x))")), "RLX205")
    assert {check.verdict for check in found} == {Verdict.ALWAYS_FINE}
    found = checks(module(INNER.format("K(x)")), "RLX205")
    assert {check.verdict for check in found} == {Verdict.ALWAYS_WRONG}


def test_inner_functions_depend_on_what_their_outer_one_does() -> None:
    found = checks(module(INNER.format("inner(K(x))")), "RLX301")
    (inner,) = [check for check in found if check.function == "main.inner"]
    assert any("`K` is unknown" in fact for fact in inner.assumes)


def test_functions_in_python_call_with_anything() -> None:
    python = "    @I.pyfunc\n    def other(self, x):\n        return {0}\n"
    text = module(SIZES + python, "from tvm import relax\n").replace(
        "class M:", "class M(relax.BasePyModule):"
    )
    assert about(text.format("self.f(x)")).verdict is Verdict.NEEDS_RUNTIME_CHECK
    assert about(text.format('self.relax_vm["f"](x)')).verdict is Verdict.NEEDS_RUNTIME_CHECK
    assert about(text.format("helper(self, x)")).verdict is Verdict.NEEDS_RUNTIME_CHECK
    assert about(text.format("self.main(x)")).verdict is Verdict.ALWAYS_FINE


OFFSET = """
    @T.prim_func(private=True)
    def add1(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i] + T.float32(1)
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32")):
        cls = M
        y = R.call_tir(cls.add1, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        s = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        t = R.memory.alloc_tensor(s, R.prim_value(16), R.shape([4]), R.dtype("float32"))
        v = cls.f(x)
        w = cls.f(K({0}))
        return (v, w)
"""


def test_what_is_not_read_may_hand_on_what_starts_elsewhere() -> None:
    def verdicts(given: str) -> list[Verdict]:
        found = checks(module(OFFSET.format(given)), "RLX303")
        return [check.verdict for check in found if check.function == "f"]

    assert verdicts("t") == [Verdict.NEEDS_RUNTIME_CHECK]
    assert verdicts("x") == []


def test_what_only_unread_parts_call_is_lowered_as_well() -> None:
    text = module(SIZES.replace("cls.f(x)", "R.add(x, x)") + other("w = K(cls.f(x))"))
    text = text.replace("R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n])", "R.zeros(R.shape([n])")
    parsed = unit_of(text.replace("        s = R.memory", "        # s = R.memory"))
    lowered = lower_unit(parsed, "llvm")
    names = {name: is_private(function) for name, function in relax_functions(lowered.ir_module)}
    assert names == {"f": True, "main": False, "other": False}
    assert is_private(parsed.ir_module["f"])
    assert {"f", "main"} <= lowered.depends.keys()
