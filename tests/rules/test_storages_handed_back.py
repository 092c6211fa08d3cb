"""RLX101 where a builtin, or a function that a branch chooses, hands a storage back: it is the same one, on the VM as well."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

T4 = 'R.Tensor((4,), "float32")'
TEXT = """
@R.function(private=True, pure=False)
def first(p: R.Any, q: R.Any) -> R.Any:
    return p

@R.function(private=True, pure=False)
def same(p: R.Any, q: R.Any) -> R.Any:
    v = R.call_packed("vm.builtin.copy", p, ty_args=R.Any)
    return v

@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([SIZE]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    z = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    LINES
    a = R.memory.alloc_tensor(v, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    return a
"""
COPY = 'R.call_packed("vm.builtin.copy", {}, ty_args={})'
MADE = 'R.call_packed("vm.builtin.make_tuple", {}, ty_args=R.Any)'
FIELD = 'R.call_packed("vm.builtin.tuple_getitem", {}, R.prim_value({}), ty_args=R.Any)'
FORMS = {
    "a copy": f"v = {COPY.format('s', 'R.Any')}",
    "a tuple of the machine's": f"t = {MADE.format('z, s')}; v = {FIELD.format('t', 1)}",
    "a field that the machine takes": f"t = (s, z); v = {FIELD.format('t', 0)}",
    "a field of a copied tuple": f"t = (z, s); w = {COPY.format('t', 'R.Tuple(R.Any, R.Any)')}; v = w[1]",
    "a field of a field": f"t = (z, (s, x)); u = t[1]; v = {FIELD.format('u', 0)}",
    "from a function": "v = Module.same(s, z)",
    "from a function that a branch chooses": (
        "if c:;    f0 = Module.first;    f = f0; else:;    f0 = Module.same;    f = f0; v = f(s, z)"
    ),
    "a copy in one branch": f"if c:;    v = s; else:;    v = {COPY.format('s', 'R.Any')}",
}


@pytest.mark.vm
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(("size", "verdict"), [(16, "always-fine"), (12, "always-wrong")])
def test_what_is_handed_back(name: str, size: int, verdict: str) -> None:
    lines = FORMS[name].replace(";", "\n    ").replace("\n     ", "\n    ")
    module = parse(TEXT.replace("LINES", lines).replace("SIZE", str(size)).replace("T4", T4))
    assert [check.verdict.value for check in checks(module, "RLX101")] == [verdict]
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu(), memory_cfg="naive")
    for taken in (True, False):
        given = [tvm.runtime.tensor(one) for one in (np.ones(4, "float32"), np.array(taken))]
        if verdict == "always-fine":
            machine["main"](*given)
        else:
            with pytest.raises(Exception, match="storage allocation failure"):
                machine["main"](*given)


def test_a_storage_of_one_of_two() -> None:
    lines = f"if c:\n        v = {COPY.format('s', 'R.Any')}\n    else:\n        v = z"
    module = parse(TEXT.replace("LINES", lines).replace("SIZE", "12").replace("T4", T4))
    assert [check.verdict.value for check in checks(module, "RLX101")] == ["needs-runtime-check"]


CHAIN = """
@R.function(private=True, pure=False)
def g{0}(p: R.Any, x: T4) -> T4:
    a = Module.g{1}(p, x)
    b = Module.g{1}(p, a)
    return b
"""
LAST = """
@R.function(private=True, pure=False)
def g{}(p: R.Any, x: T4) -> T4:
    a = R.memory.alloc_tensor(p, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    return a

@R.function(pure=False)
def main(x: T4):
    s = R.memory.alloc_storage(R.shape([{}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    u = Module.g0(s, x)
    return u
"""


@pytest.mark.parametrize(("size", "verdict"), [(16, "always-fine"), (12, "always-wrong")])
def test_functions_that_hand_it_on_twice(size: int, verdict: str) -> None:
    """There are 2 ** 40 ways from the first one to the last one."""
    functions = [CHAIN.format(number, number + 1) for number in range(40)]
    module = parse("".join([*functions, LAST.format(40, size)]).replace("T4", T4))
    assert [check.verdict.value for check in checks(module, "RLX101")] == [verdict]
