"""A packed call by the name of a kernel of the module runs that kernel, which compares what it is given."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

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
