"""A packed call by the name of a kernel of the module runs that kernel, which compares what it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.results.check import Check
from tests.rules.checking import checks, parse

KERNELS = """
@T.prim_func(s_tir=True)
def kernel(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def at(k: T.int64, a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    x[k] = T.float32(2)
"""


def _module(call: str, x: str = "float32", y: int = 4, ty: str = "R.Tuple") -> Any:
    return parse(f"""{KERNELS}
@R.function(pure=False)
def main(x: R.Tensor((4,), "{x}"), y: R.Tensor(({y},), "float32")):
    done = R.call_packed({call}, ty_args={ty})
    return y
""")


def _said(module: Any) -> list[tuple[str, str]]:
    found: list[Check] = checks(module, "RLX3")
    return sorted((check.rule, check.verdict.value) for check in found)


FINE = [("RLX301", "always-fine"), ("RLX302", "always-fine")]


def test_a_kernel_by_its_name_is_judged_as_the_kernel() -> None:
    assert _said(_module('"kernel", x, y')) == FINE
    assert _said(_module('"kernel", x, y', y=3)) == [("RLX301", "always-wrong"), FINE[1]]
    assert _said(_module('"kernel", x, y', x="int32")) == [FINE[0], ("RLX302", "always-wrong")]
    assert _said(_module('"kernel", x')) == [("RLX301", "always-wrong"), FINE[1]]
    assert ("RLX306", "always-wrong") in _said(_module('"at", R.prim_value(4), x'))
    assert _said(_module('"at", R.prim_value(3), x')) == [*FINE, ("RLX306", "always-fine")]


def test_the_name_is_that_under_which_a_kernel_is_exported() -> None:
    module = _module('"other", x, y', y=3)
    assert _said(module) == []
    module["kernel"] = module["kernel"].with_attr("global_symbol", "other")
    assert _said(module) == [("RLX301", "always-wrong"), FINE[1]]


def test_a_declared_result_and_names_of_tvm_are_what_they_were() -> None:
    module = _module('"kernel", x, y', y=3, ty='R.Tensor((4,), "float32")')
    assert [rule for rule, _ in _said(module) if rule in ("RLX301", "RLX302")] == []
    module = _module('"vm.builtin.copy", x')
    module["kernel"] = module["kernel"].with_attr("global_symbol", "vm.builtin.copy")
    assert all(rule not in ("RLX301", "RLX302") for rule, _ in _said(module))


def test_what_it_writes_is_written() -> None:
    found = [c for c in checks(_module('"kernel", x, x'), "RLX2") if c.severity.value != "none"]
    assert not found  # Element by element, in place.
    text = KERNELS.replace("x[i] * ", "x[n - 1 - i] * ")
    module = parse(f"""{text}
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    done = R.call_packed("kernel", x, x, ty_args=R.Tuple)
    return x
""")
    assert [(c.rule, c.verdict.value) for c in checks(module, "RLX206")] == [("RLX206", "always-wrong")]


T4 = 'R.Tensor((4,), "float32")'
HALF = """
@T.prim_func(private=True, s_tir=True)
def half(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = x[i]
"""
ON_STORAGE = f"""
@R.function(pure=False)
def main(x: {T4}, y: {T4}):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    LINES
"""
OVER = """k0 = Module.kernel(y, t)
    v = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    k1 = Module.kernel(x, v)
    k2 = Module.kernel(v, y)
    """
SAME = [
    # A call of a kernel, and what says the same by its name.
    ("R.call_tir(Module.{}, ({}), {})", 'R.call_dps_packed("{}", ({}), {})', T4),
    ("R.call_tir(Module.{}, ({}), {})", "R.call_dps_packed(Module.{}, ({}), {})", T4),
    ("R.call_tir(Module.{}, ({}), {})", 'R.call_dps_packed("{}", ({}), {})', T4.replace("4", "3")),
]


def _all_said(lines: str) -> list[tuple[str, str | None, str, str]]:
    module = parse(KERNELS + HALF + ON_STORAGE.replace("LINES", lines))
    return sorted((c.rule, c.binding or "", c.verdict.value, c.proof) for c in checks(module, "RLX"))


@pytest.mark.parametrize("name", ["kernel", "half"])
def test_what_is_computed_by_its_name_is_judged_as_what_it_computes(name: str) -> None:
    for damage, given in (("", "t,"), ("", "x,"), ("", "x, y"), (OVER, "t,")):
        for call, by_name, type_ in SAME:
            lines = (f"{damage}a = {one.format(name, given, type_)}\n    return a" for one in (call, by_name))
            said = [_all_said(one) for one in lines]
            assert said[0] == said[1], (given, by_name)
    assert ("RLX203", "k1", "always-wrong") in [one[:3] for one in said[1]]


def test_a_call_that_says_that_it_is_pure_writes_what_the_kernel_writes() -> None:
    """It may be left out, as it says that it does nothing but compute what it returns: so with `R.call_tir`."""
    for damage, given, rule in (("", "t, x", "RLX205"), (OVER, "t, x", "RLX203"), ("", "x, t", "RLX205")):
        call = 'R.call_pure_packed("kernel", {}, ty_args=R.Object)'
        used = f"{damage}a = {call.format(given)}\n    b = R.print(a, format='')\n    c = R.add(t, x)\n    return c"
        direct = used.replace(call.format(given), f"Module.kernel({given})")
        said = [[one for one in _all_said(lines) if one[0] == rule] for lines in (used, direct)]
        assert said[0] == said[1], given
    found = _all_said(used)
    why = "a kernel of `R.call_pure_packed` writes it"
    assert ("RLX206", "a", "needs-runtime-check", why) in found


@pytest.mark.vm
def test_the_machine_runs_the_kernel_before_what_others_have_under_the_name() -> None:
    name = "relax_lint_tests_by_name"
    tvm.register_global_func(name, lambda *_: pytest.fail("the registry"), override=True)
    text = f"""{KERNELS}
@R.function(pure=False)
def main(x: {T4}, y: {T4}):
    a = R.call_dps_packed("kernel", (x,), {T4})
    b = R.call_pure_packed("kernel", x, y, ty_args=R.Object)
    c = (a, y, b)
    return c
"""
    module = parse(text.replace("def kernel", f"def {name}").replace('"kernel"', f'"{name}"'))
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    found = machine["main"](*(tvm.runtime.tensor(np.full(4, 3, "float32")) for _ in range(2)))
    assert [one.numpy().tolist() for one in (found[0], found[1])] == [[6.0] * 4] * 2


@pytest.mark.vm
def test_the_machine_runs_the_kernel() -> None:
    inputs = [Tensor("float32", (4,)), Tensor("float32", (3,))]
    with Machine() as machine:
        for name in ("kernel", "at"):
            call = '"kernel", x, y' if name == "kernel" else '"at", R.prim_value(2), y'
            module = Module(tvm.ir.save_json(_module(call, y=3)), "json")
            result = machine.run(module, "main", inputs)
            if name == "kernel":
                assert (result.outcome, result.error_type) == (Outcome.ERROR, "ValueError")
            else:
                assert result.outputs[0].values == (0.0, 1.0, 2.0)
