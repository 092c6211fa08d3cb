"""RLX301, RLX302, RLX304: what `vm.builtin.copy` gives back under a type that it does not have, behind an `If` and
where a view names no shape or dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

F4, F5, H4 = (f'R.Tensor(({n},), "{dtype}")' for n, dtype in ((4, "float32"), (5, "float32"), (4, "float16")))
KERNEL = """
@T.prim_func(private=True)
def k(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]
"""
BRANCHES = f"""
@R.function(pure=False)
def main(x: {{given}}, y: {F4}, c: R.Tensor((), "bool")) -> {F4}:
    w = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    if c:
        a = R.call_packed("vm.builtin.copy", x, ty_args={F4})
        z = {{then}}
    else:
        b = R.call_packed("vm.builtin.copy", {{other}}, ty_args={F4})
        z = {{otherwise}}
    {{field}}
    _ = Module.k(v, w)
    return w
"""
VIEW = """
@R.function(pure=False)
def main(x: {given}) -> R.Any:
    t = R.call_packed("vm.builtin.copy", x, ty_args={claimed})
    u = R.memory.view(t, {arguments})
    return u
"""


def _answer(module: Any, *given: Any) -> str:
    """What the virtual machine answers: nothing where it runs, else the beginning of its error."""
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu(), memory_cfg="naive")
    try:
        machine["main"](*map(tvm.runtime.tensor, given))
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


@pytest.mark.vm
@pytest.mark.parametrize(
    ("given", "other", "rule", "verdict", "fails"),
    [
        (F4, "y", "RLX301", "always-fine", (False, False)),
        (F4, "y", "RLX302", "always-fine", (False, False)),
        (F5, "y", "RLX301", "needs-runtime-check", (True, False)),
        (F5, "y", "RLX302", "always-fine", (True, False)),
        (H4, "y", "RLX302", "needs-runtime-check", (True, False)),
        (H4, "y", "RLX301", "always-fine", (True, False)),
        # Either branch gives what the kernel refuses.
        (F5, "x", "RLX301", "always-wrong", (True, True)),
        (H4, "x", "RLX302", "always-wrong", (True, True)),
    ],
)
@pytest.mark.parametrize("is_field", [False, True])
def test_what_an_if_gives_has_the_types_of_its_branches(
    given: str, other: str, rule: str, verdict: str, fails: tuple[bool, bool], is_field: bool
) -> None:
    then, otherwise, field = ("(a, y)", "(b, y)", "v = z[0]") if is_field else ("a", "b", "v = z")
    text = BRANCHES.format(given=given, other=other, then=then, otherwise=otherwise, field=field)
    module = parse(KERNEL + text)
    of_kernel = [check for check in checks(module, rule) if "`k`" in check.message]
    assert [(check.verdict.value, check.assumes) for check in of_kernel] == [(verdict, ())]
    x = {F4: np.ones(4, "float32"), F5: np.ones(5, "float32"), H4: np.ones(4, "float16")}[given]
    y = np.ones(4, "float32")
    for branch, fail in zip((True, False), fails, strict=True):
        assert bool(_answer(module, x, y, np.array(branch))) is fail


@pytest.mark.vm
@pytest.mark.parametrize(
    ("given", "claimed", "arguments", "verdict"),
    [
        # TVM fills in the dtype that the copy claims: 16 bytes of 8.
        (H4, F4, "R.shape([2, 2])", "always-wrong"),
        (H4, F4, "R.shape([2, 1])", "always-fine"),
        (H4, F4, 'R.shape([2, 2]), R.dtype("float16")', "always-fine"),
        # And the shape: 20 bytes of 16.
        (F4, F5, 'dtype=R.dtype("int32")', "always-wrong"),
        (F5, F4, 'dtype=R.dtype("int32")', "always-fine"),
    ],
)
def test_a_view_takes_from_the_ir_what_it_does_not_name(
    given: str, claimed: str, arguments: str, verdict: str
) -> None:
    module = parse(VIEW.format(given=given, claimed=claimed, arguments=arguments))
    views = [check for check in checks(module, "RLX304") if check.binding == "u"]
    assert [check.verdict.value for check in views] == [verdict]
    x = {F4: np.ones(4, "float32"), F5: np.ones(5, "float32"), H4: np.ones(4, "float16")}[given]
    answer = _answer(module, x)
    assert ("view_size <= curr_size" in answer) is (verdict == "always-wrong"), answer
