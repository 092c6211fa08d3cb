"""RLX206 for names that may stand for several tensors, with what the VM returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

KERNELS = """
@T.prim_func(private=True, s_tir=True)
def double_in_place(x: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        y[i] = x[i]
"""
CLEARED = """
@T.prim_func(private=True, s_tir=True)
def clear_then_add(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        y[i] = T.float32(1)
    for i in range(T.int64(4)):
        y[i] = y[i] + x[i]

@R.function(pure=False, private=True)
def clear_and_add(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    Module.clear_then_add(x, y)
    return y

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    cls = Module
    a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    b = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    a1 = R.call_tir_inplace(cls.double_in_place, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
    used = R.call_packed("vm.builtin.make_tuple", a1, ty_args=R.Tuple)
    {call}
    shown = R.print(b, format="")
    return a
"""
JOINED = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    cls = Module
    a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    b = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    if c:
        v = a
    else:
        v = b
    a1 = R.call_tir_inplace(cls.double_in_place, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
    {second}
    cls.copy(x, a1)
    w = R.call_tir(cls.copy, (v,), out_ty=R.Tensor((4,), "float32"))
    return w
"""
SECOND = (
    "b1 = R.call_tir_inplace("
    'cls.double_in_place, (b,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))'
)
FIELDS = """
@R.function(pure=False)
def main(x: R.Tensor((8,), "float32")) -> R.Tensor((4,), "float32"):
    cls = Module
    t = R.split(x, 2)
    first = t[0]
    second = t[1]
    one = R.call_tir_inplace(cls.double_in_place, (first,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
    two = R.call_tir_inplace(cls.double_in_place, (second,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
    used = R.call_packed("vm.builtin.make_tuple", one, two, ty_args=R.Tuple)
    {again}
    later = t[{index}]
    w = R.call_tir(cls.copy, (later,), out_ty=R.Tensor((4,), "float32"))
    return w
"""


def _said(text: str) -> list[str]:
    found = checks(parse(KERNELS + text), "RLX206")
    return [check.verdict.value for check in found if "overwrites" in check.message]


def _returned(text: str, *arguments: Any) -> list[float]:
    built = tvm.compile(parse(KERNELS + text), target="llvm", relax_pipeline="default")
    machine = relax.VirtualMachine(built, tvm.cpu())
    return list(machine["main"](*(tvm.runtime.tensor(np.array(a)) for a in arguments)).numpy())


X = np.arange(1, 5, dtype="float32")


def test_a_write_to_one_tensor_is_none_to_another_that_a_name_may_stand_for() -> None:
    """`v` is `b` where the condition does not hold, and `b` stays doubled."""
    text = JOINED.format(second=SECOND)
    assert _returned(text, X, np.array(True)) == list(X)
    assert _returned(text, X, np.array(False)) == list(2 * X)
    assert "needs-runtime-check" in _said(text)


def test_what_is_written_again_on_every_path_is_fine() -> None:
    text = JOINED.format(second="b1 = b")
    assert _returned(text, X, np.array(True)) == _returned(text, X, np.array(False)) == list(X)
    assert not {"needs-runtime-check", "always-wrong"} & set(_said(text))


@pytest.mark.parametrize(
    ("again", "index", "returned", "said"),
    [
        ("one1 = one", 0, 2 * X, {"always-wrong"}),
        ("one1 = one", 1, 2 * (X + 4), {"always-wrong"}),
        ("cls.copy(one, two)", 0, 2 * X, {"always-wrong"}),
    ],
)
def test_a_field_that_is_taken_again_was_overwritten(
    again: str, index: int, returned: Any, said: set[str]
) -> None:
    text = FIELDS.format(again=again, index=index)
    assert _returned(text, np.arange(1, 9, dtype="float32")) == list(returned)
    assert said <= set(_said(text))


def test_a_field_that_is_written_again_is_fine() -> None:
    text = FIELDS.format(again="cls.copy(two, one)", index=0)
    assert _returned(text, np.arange(1, 9, dtype="float32")) == list(2 * (X + 4))
    assert "always-wrong" not in _said(text)


@pytest.mark.parametrize(
    ("call", "returned", "certain"),
    [
        ("cls.clear_then_add(a, a)", [2, 2, 2, 2], False),
        ("w = cls.clear_and_add(a, a)", [2, 2, 2, 2], False),
        ("cls.clear_then_add(a, b)", list(2 * X), True),
        ("w = cls.clear_and_add(a, b)", list(2 * X), True),
        # What nobody looks at.
        ("cls.clear_then_add(a, b)\n    cls.copy(x, b)", list(2 * X), False),
        ("w = cls.clear_and_add(a, b)\n    cls.copy(x, b)", list(2 * X), False),
    ],
)
def test_what_is_written_before_it_is_read_is_not_stale_for_certain(
    call: str, returned: list[float], certain: bool
) -> None:
    text = CLEARED.format(call=call)
    assert _returned(text, X) == returned
    found = checks(parse(KERNELS + text), "RLX206")
    said = {
        check.verdict.value
        for check in found
        if "overwrites `a` in place" in check.message and "returned" not in check.message
    }
    assert ("always-wrong" in said) == certain


CLOSURE = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    cls = Module
    a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    a1 = R.call_tir_inplace(cls.double_in_place, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
    @R.function
    def inner(p: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        r = R.add(a1, a1)
        return r
    b: R.Tensor((4,), "float32") = inner(a)
    return b
"""


def test_a_closure_need_not_read_what_it_is_given() -> None:
    """Neither before LambdaLift nor behind it, where the callee is not known any more."""
    module = parse(KERNELS + CLOSURE)
    lifted = relax.transform.LambdaLift()(module)
    machine = relax.VirtualMachine(tvm.compile(lifted, target="llvm", relax_pipeline="default"), tvm.cpu())
    assert list(machine["main"](tvm.runtime.tensor(X)).numpy()) == list(4 * X)
    for one in (module, lifted):
        said = [check.verdict.value for check in checks(one, "RLX206")]
        assert "always-wrong" not in said


OLD_AND_NEW = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    cls = Module
    a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    if c:
        one = R.call_tir_inplace(
            cls.double_in_place, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32")
        )
        both = (one, x)
    else:
        one = R.call_tir_inplace(
            cls.double_in_place, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32")
        )
        both = (one, a)
    w = both[{index}]
    return w
"""


@pytest.mark.parametrize(("index", "returned", "said"), [(0, 2 * X, []), (1, X, ["always-wrong"])])
def test_which_field_of_a_joined_tuple_is_the_older_name(index: int, returned: Any, said: list[str]) -> None:
    """The first is the newer name on both ways; the second is `x`, or the older name of what was doubled."""
    text = OLD_AND_NEW.format(index=index)
    assert _returned(text, X, np.array(True)) == list(returned)
    assert _returned(text, X, np.array(False)) == list(2 * X)
    assert _said(text) == said


NAMED_AGAIN = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    cls = Module
    a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    b = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    n = R.call_tir_inplace(cls.double_in_place, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
    if c:
        t = (n, a)
    else:
        t = (n, b)
    {name}
    w = R.call_tir(cls.copy, (u[{index}],), out_ty=R.Tensor((4,), "float32"))
    return w
"""


@pytest.mark.parametrize("name", ["u = t", "v = t\n    u = v", "v = (b, t)\n    u = v[1]"])
def test_another_name_of_a_joined_tuple_has_its_fields(name: str) -> None:
    """The first one is the newer name on both ways, the second one the older name on one of them."""
    assert _said(NAMED_AGAIN.format(name=name, index=0)) == []
    assert _said(NAMED_AGAIN.format(name=name, index=1)) == ["needs-runtime-check"]
