"""RLX505 where a type says what a value is not, and where a branch alone gives such a value: with the VM."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, findings, parse

T4 = 'R.Tensor((4,), "float32")'
TEXT = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            y[v] = x[v]

@T.prim_func(private=True, s_tir=True)
def counted(a: T.handle, n: T.int64, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        with T.sblock("copy"):
            v = T.axis.spatial(4, i)
            y[v] = x[v] + T.Cast("float32", n)

@R.function(private=True, pure=False)
def typed(p: T4):
    return p

@R.function(private=True, pure=False)
def number(p: R.Prim("int64")):
    return p

@R.function(private=True, pure=False)
def pair(p: R.Tuple(T4, T4)):
    return p

@R.function(private=True, pure=False)
def weights(q: T4, p: T4):
    R.func_attr({"num_input": 1})
    return q

@R.function(private=True, pure=False)
def holds(p: R.Any):
    return p

@R.function(private=True, pure=False)
def claims(p: R.Any):
    q = R.call_packed("vm.builtin.copy", p, ty_args=T4)
    return q

@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    n = R.null_value()
    p = (x, x)
    z = R.shape([4])
    d = R.prim_value(3)
    o = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    LINES
    k = R.memory.kill_storage(s)
    return x
"""
CLAIM = '{} = R.call_packed("vm.builtin.copy", {}, ty_args=({},))'
N, S, P, X = (CLAIM.format("v", one, "T4") for one in "nspx")
KERNEL = "l = Module.kernel(v, o)"
USE = '; k9 = R.call_packed("vm.builtin.make_tuple", u, ty_args=R.Tuple)'
RESHAPE = 'u = R.call_packed("vm.builtin.reshape", {}, {}, ty_args=T4)'
CHECK = 'l = R.call_packed("vm.builtin.check_{}_info", {}, {} R.str("it"), ty_args=R.Tuple)'
TENSOR = 'R.prim_value(1), R.dtype("float32"),'
CHOICE = "if {}:;     u0 = x;     u = u0; else:;     u0 = x;     u = u0"
TO_SHAPE = 'u = R.call_packed("vm.builtin.tensor_to_shape", v, ty_args=R.Shape(ndim=1))'
LONGER = CLAIM.format("v", "p", "R.Tuple(T4, T4, T4)")
HEAP = 'h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(2),), ty_args=[R.Tensor(dtype="int64", ndim=1)])'
MATCH = f'{HEAP}; l = R.call_packed("vm.builtin.match_shape", {{}}, h, R.prim_value(1), R.prim_value(0), R.prim_value(4), R.str("it"), ty_args=R.Tuple)'
BRANCH = "if c:;     b = {};     u = b; else:;     b = {};     u = b; "
ONE = CLAIM.format("v", "{}", "{}") + "; " + CLAIM.format("w", "{}", "{}") + "; " + BRANCH.format("{}", "{}")


def _of_one(value: str, other: str, type_: str, *, given: tuple[str, str] = ("v", "w")) -> str:
    """One branch gives `value`, the other one `other`."""
    return ONE.format(value, type_, other, type_, *given)


NO, SOME = "no input passes the", "not every path passes the"
ALWAYS: dict[str, tuple[str, list[str]]] = {
    # What a type says that nothing makes true.
    "nothing for a kernel": (f"{N}; {KERNEL}", [f"{NO} call `v is a tensor`"]),
    "a storage for a kernel": (f"{S}; {KERNEL}", [f"{NO} call `v is a tensor`"]),
    "a tensor for a kernel": (f"{X}; {KERNEL}", []),
    "nothing as an output": (f"{N}; l = Module.kernel(x, v)", [f"{NO} call `v is a tensor`"]),
    "a storage for R.call_tir": (
        f"{S}; u = R.call_tir(Module.kernel, (v,), T4){USE}",
        [f"{NO} call `v is a tensor`"],
    ),
    "nothing for an operator": (f"{N}; u = R.add(v, x){USE}", [f"{NO} call `v is a tensor`"]),
    "nothing in the tuple of an operator": (
        f"{N}; u = R.concat((x, v)){USE}",
        [f"{NO} call `v is a tensor`"],
    ),
    "a tensor in the tuple of an operator": (f"{X}; u = R.concat((x, v)){USE}", []),
    "nothing where only the type matters": (f"{N}; u = R.zeros_like(v){USE}", []),
    "nothing for a number": (
        f"{CLAIM.format('v', 'n', 'R.Prim(`int64`)')}; l = Module.counted(x, v, o)",
        [f"{NO} call `v is a number`"],
    ),
    "a number for a number": (
        f"{CLAIM.format('v', 'd', 'R.Prim(`int64`)')}; l = Module.counted(x, v, o)",
        [],
    ),
    "nothing from a function": (f"v = Module.claims(n); {KERNEL}", [f"{NO} call `v is a tensor`"]),
    "a tensor from a function": (f"v = Module.claims(x); {KERNEL}", []),
    "nothing in a tuple": (
        f"t = (x, n); {CLAIM.format('w', 't', 'R.Tuple(T4, T4)')}; v = w[1]; {KERNEL}",
        [f"{NO} call `v is a tensor`"],
    ),
    "a storage to be sorted": (
        f'{S}; l = R.call_packed("tvm.contrib.sort.sort", v, o, R.prim_value(0), R.prim_value(1), ty_args=R.Tuple)',
        [f"{NO} call `v is a tensor`"],
    ),
    # Builtins that take something else.
    "a view of a number": (
        RESHAPE.format("d", "R.shape([4])") + USE,
        [f"{NO} call `d is a tensor`"],
    ),
    "a view of a tuple": (
        f"{P}; " + RESHAPE.format("v", "R.shape([4])") + USE,
        [f"{NO} call `v is a tensor`"],
    ),
    "a view as long as a tensor": (RESHAPE.format("x", "o") + USE, [f"{NO} call `o is a shape`"]),
    "a view as long as a false shape": (
        f"{CLAIM.format('v', 'x', 'R.Shape([4])')}; {RESHAPE.format('x', 'v')}{USE}",
        [f"{NO} call `v is a shape`"],
    ),
    "a view as long as nothing": (
        f"{CLAIM.format('v', 'n', 'R.Shape([4])')}; {RESHAPE.format('x', 'v')}{USE}",
        [f"{NO} view `v is a shape`"],
    ),
    "a view as long as a shape": (RESHAPE.format("x", "z") + USE, []),
    "a tensor on a false shape": (
        f"{CLAIM.format('v', 'x', 'R.Shape([4])')}; "
        f'u = R.memory.alloc_tensor(s, R.prim_value(0), v, R.dtype("float32")){USE}',
        [f"{NO} allocation `v is a shape`"],
    ),
    "nothing checked as a tensor": (CHECK.format("tensor", "n", TENSOR), [f"{NO} call `n is a tensor`"]),
    "a tensor checked as one": (CHECK.format("tensor", "x", TENSOR), []),
    "a tensor checked as a shape": (
        CHECK.format("shape", "x", "R.prim_value(1),"),
        [f"{NO} call `x is a shape`"],
    ),
    "a shape checked as one": (CHECK.format("shape", "z", "R.prim_value(1),"), []),
    "a tensor checked as a tuple": (
        CHECK.format("tuple", "x", "R.prim_value(2),"),
        [f"{NO} call `x is a tuple`"],
    ),
    "a tuple checked as one": (CHECK.format("tuple", "p", "R.prim_value(2),"), []),
    "nothing checked as a number": (
        CHECK.format("prim_value", "n", 'R.dtype("int64"),'),
        [f"{NO} call `n is a number`"],
    ),
    "a number checked as one": (CHECK.format("prim_value", "d", 'R.dtype("int64"),'), []),
    "a tensor checked as a function": (CHECK.format("func", "x", ""), [f"{NO} call `x is a function`"]),
    "the extents of nothing": (MATCH.format("n"), [f"{NO} check `n is a tensor or a shape`"]),
    "the extents of a tuple": (MATCH.format("p"), [f"{NO} check `p is a tensor or a shape`"]),
    "the extents of a tensor": (MATCH.format("x"), []),
    "the extents of a shape": (MATCH.format("z"), []),
    "a call of a tensor": (
        f"{CLAIM.format('v', 'x', 'R.Callable((T4,), T4, purity=False)')}; u = v(x){USE}",
        [f"{NO} call `v is a function`"],
    ),
    "a condition of floats": (
        f"{CLAIM.format('v', 'R.const(1.0, `float32`)', 'R.Tensor((), `bool`)')}; {CHOICE.format('v')}{USE}",
        [f"{NO} branch `v holds integers`"],
    ),
    "a condition": (f"{CLAIM.format('v', 'c', 'R.Tensor((), `bool`)')}; {CHOICE.format('v')}{USE}", []),
    "extents in a tensor of floats": (
        f"{CLAIM.format('v', 'x', 'R.Tensor((4,), `int64`)')}; {TO_SHAPE}{USE}",
        [f"{NO} call `v holds integers`"],
    ),
    "extents in a tensor": (
        f"{CLAIM.format('v', 'R.const([4], `int64`)', 'R.Tensor((1,), `int64`)')}; {TO_SHAPE}{USE}",
        [],
    ),
    "a call of a closure that holds nothing": (
        f"f = R.make_closure(Module.holds, (n,)); u = R.invoke_closure(f, (), ty_args=R.Any){USE}",
        [],
    ),
    "a cast of a closure that holds nothing": (
        f"f = R.make_closure(Module.holds, (n,)); {CLAIM.format('v', 'f', 'R.Any')}; "
        f"u = R.match_cast(v, R.Callable((), R.Any)){USE}",
        [],
    ),
    # What a function of the module looks at.
    "a tensor for who takes a number": (
        f"{CLAIM.format('v', 'x', 'R.Prim(`int64`)')}; u = Module.number(v){USE}",
        [f"{NO} call `v is a number`"],
    ),
    "a number for who takes one": (
        f"{CLAIM.format('v', 'd', 'R.Prim(`int64`)')}; u = Module.number(v){USE}",
        [],
    ),
    "nothing that is not looked at": (f"{N}; u = Module.weights(x, v){USE}", []),
    # Fields that are not there.
    "a third field of two": (f"{LONGER}; u = v[2]{USE}", [f"{NO} access `v has more than 2 fields`"]),
    "the second field of two": (f"{LONGER}; u = v[1]{USE}", []),
    "a third field, taken by the machine": (
        f'u = R.call_packed("vm.builtin.tuple_getitem", p, R.prim_value(2), ty_args=R.Any){USE}',
        [f"{NO} call `p has more than 2 fields`"],
    ),
    # Casts to what the type says already, which TVM leaves out.
    "a cast that TVM leaves out": (f"{N}; u = R.match_cast(v, T4){USE}", []),
    "a cast to less": (f"{N}; u = R.match_cast(v, R.Tensor){USE}", []),
    "a cast to more": (
        f"{CLAIM.format('v', 'n', 'R.Tensor')}; u = R.match_cast(v, T4){USE}",
        [f"{NO} match_cast `v is a tensor`"],
    ),
    "a cast of a tuple that TVM leaves out": (
        f"t = (n, x); {CLAIM.format('v', 't', 'R.Tuple(T4, R.Any)')}; u = R.match_cast(v, R.Tuple(T4, T4)){USE}",
        [],
    ),
    "a cast of a field": (
        f"t = (x, n); {CLAIM.format('v', 't', 'R.Tuple(T4, R.Any)')}; u = R.match_cast(v, R.Tuple(T4, T4)){USE}",
        [f"{NO} match_cast `n is a tensor`"],
    ),
    "a cast to a shape that TVM leaves out": (
        f"{CLAIM.format('v', 'n', 'R.Shape([4])')}; u = R.match_cast(v, R.Shape(ndim=1)){USE}",
        [],
    ),
    "a cast to a function that TVM leaves out": (
        f"{CLAIM.format('v', 'n', 'R.Callable((T4,), T4)')}; u = R.match_cast(v, R.Callable((T4,), T4)){USE}",
        [],
    ),
}
SOMETIMES: dict[str, tuple[str, list[str]]] = {
    "a storage for who takes a tensor": (
        _of_one("s", "x", "T4") + f"q = Module.typed(u){USE}",
        [f"{SOME} call `u is a tensor`"],
    ),
    "a number for who takes a tensor": (
        _of_one("d", "x", "T4") + f"q = Module.typed(u){USE}",
        [f"{SOME} call `u is a tensor`"],
    ),
    "nothing for who takes a tensor": (
        _of_one("n", "x", "T4") + f"q = Module.typed(u){USE}",
        [f"{SOME} call `u is a tensor`"],
    ),
    "a tensor from either branch": (_of_one("x", "x", "T4") + f"q = Module.typed(u){USE}", []),
    "nothing in a tuple": (
        _of_one("n", "x", "T4", given=("(x, v)", "(x, w)")) + f"q = Module.pair(u){USE}",
        [f"{SOME} call `v is a tensor`"],
    ),
    "a field of a tuple": (
        _of_one("s", "x", "T4", given=("(x, v)", "(x, w)")) + f"r = u[1]; q = Module.typed(r){USE}",
        [f"{SOME} call `r is a tensor`"],
    ),
    "nothing for a kernel": (
        _of_one("n", "x", "T4") + "l = Module.kernel(u, o)",
        [f"{SOME} call `u is a tensor`"],
    ),
    "a shorter tuple": (
        _of_one("p", "(x, x, x)", "R.Tuple(T4, T4, T4)") + f"q = u[2]{USE}",
        [f"{SOME} access `u has more than 2 fields`"],
    ),
    # Behind the cast it is a tensor, or the run has ended with a message.
    "what a cast let through": (
        _of_one("s", "x", "R.Any")
        + f"v9 = R.match_cast(u, T4); q = Module.typed(v9){USE}; l = Module.kernel(v9, o)",
        [],
    ),
    "a storage that is cast to a tensor": (_of_one("s", "x", "R.Any") + f"q = R.match_cast(u, T4){USE}", []),
}


def _module(lines: str) -> Any:
    written = lines.replace("`", '"').replace("; ", "\n    ")
    return parse(TEXT.replace("LINES", written).replace("T4", T4))


def _runs(module: Any, *, taken: bool) -> bool:
    """Whether a run survives, in a process of its own, which some of these end."""
    executable = relax.build(module, "llvm")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            machine = relax.VirtualMachine(executable, tvm.cpu())
            given = np.ones(4, "float32"), np.array(taken)
            machine["main"](*map(tvm.runtime.tensor, given))
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.vm
@pytest.mark.parametrize("name", ALWAYS)
def test_what_something_is_not(name: str) -> None:
    lines, said = ALWAYS[name]
    module = _module(lines)
    found = findings(module, "RLX505")
    assert [check.message for check in found] == said
    assert {check.verdict.value for check in found} <= {"always-wrong"}
    assert _runs(module, taken=True) == (not said)


def test_a_field_that_only_a_run_tells() -> None:
    at = 'u = R.call_packed("vm.builtin.tuple_getitem", p, R.prim_value(m), ty_args=R.Any)'
    module = _module(f'm = T.int64(); y = R.match_cast(x, R.Tensor((m,), "float32")); {at}{USE}')
    assert not findings(module, "RLX505")


@pytest.mark.vm
@pytest.mark.parametrize("name", SOMETIMES)
def test_what_one_branch_gives(name: str) -> None:
    lines, said = SOMETIMES[name]
    module = _module(lines)
    found = findings(module, "RLX505")
    assert [check.message for check in found] == said
    assert {check.verdict.value for check in found} <= {"needs-runtime-check"}
    assert not said or not _runs(module, taken=True)
    assert _runs(module, taken=False)


def test_many_branches_that_lead_to_one_value() -> None:
    branch = "if c:;     b{0} = {1};     v{0} = b{0}; else:;     b{0} = {1};     v{0} = b{0}"
    branches = [branch.format(number, f"v{number - 1}") for number in range(1, 40)]
    module = _module("; ".join([CLAIM.format("v0", "n", "T4"), *branches, "l = Module.kernel(v39, o)"]))
    assert [check.verdict.value for check in findings(module, "RLX505")] == ["always-wrong"]


INNER = """
@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    n = R.null_value()
    v = R.call_packed("vm.builtin.copy", GIVEN, ty_args=(T4,))
    if c:
        b = v
        u = b
    else:
        b = x
        u = b

    @R.function(pure=False)
    def inner(y: T4):
        k = R.call_packed("vm.builtin.shape_of", USED, ty_args=R.Shape)
        return y

    q = inner(x)
    return q
"""


@pytest.mark.vm
@pytest.mark.parametrize(
    ("given", "used", "verdict"),
    [
        ("n", "v", "always-wrong"),
        ("n", "u", "needs-runtime-check"),
        ("x", "v", None),
        ("x", "u", None),
    ],
)
def test_what_an_inner_function_uses(given: str, used: str, verdict: str | None) -> None:
    module = parse(INNER.replace("GIVEN", given).replace("USED", used).replace("T4", T4))
    found = findings(module, "RLX505")
    assert [check.verdict.value for check in found] == ([] if verdict is None else [verdict])
    lifted = relax.transform.LambdaLift()(module)
    assert _runs(lifted, taken=True) == (verdict is None)
    assert _runs(lifted, taken=False) == (verdict != "always-wrong")


WITH_CONTEXT = """
@R.function(pure=False)
def main(x: T4):
    n = R.null_value()
    h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(2),), ty_args=[R.Tensor(dtype="int64", ndim=1)])
    l = R.call_builtin_with_ctx(
        "vm.builtin.match_shape",
        (VALUE, h, R.prim_value(1), R.prim_value(0), R.prim_value(4), R.str("it")),
        ty_args=[R.Tuple],
    )
    return x
"""


@pytest.mark.parametrize(("value", "count"), [("x", 0), ("n", 1)])
def test_a_check_in_the_form_with_a_context(value: str, count: int) -> None:
    assert len(findings(parse(WITH_CONTEXT.replace("VALUE", value).replace("T4", T4)), "RLX505")) == count


COPIED = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    v = R.call_packed("vm.builtin.copy", x, ty_args=(DECLARED,))
    w = R.match_cast(v, R.Tensor((4,), "float32"))
    s = R.memory.alloc_storage(R.shape([n * 4]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    l = R.call_packed("runtime.TVMTensorCopyFromTo", R.const([1.0, 2.0, 3.0, 4.0], "float32"), a, ty_args=R.Tuple)
    return a
"""


@pytest.mark.vm
@pytest.mark.parametrize(
    ("declared", "verdict", "error"),
    [
        # TVM leaves out a cast to what the copy is said to be.
        ('R.Tensor((4,), "float32")', "needs-runtime-check", "storage allocation failure"),
        ('R.Tensor((n,), "float32")', "always-fine", "match_cast error"),
        ("R.Any", "always-fine", "match_cast error"),
    ],
)
def test_what_a_cast_of_a_copy_makes_sure(declared: str, verdict: str, error: str) -> None:
    module = parse(COPIED.replace("DECLARED", declared))
    assert [check.verdict.value for check in checks(module, "RLX101")] == [verdict]
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu(), memory_cfg="naive")
    with pytest.raises(Exception, match=error):
        machine["main"](tvm.runtime.tensor(np.ones(2, "float32")))
