"""Lifetime rules where the pages do not reach: compiler output, other functions, tuples, packed functions."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax

from tests.rules.checking import DOUBLE, findings, parse, stages, verdicts

PLANNED = "StaticPlanBlockMemory"
BEFORE_0_27 = tvm.__version__.startswith("0.26")

PREFIX = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i]
"""


def by_hand(body: str) -> Any:
    """A module with two kernels and the functions of `body`."""
    return parse(PREFIX + body)


def said(module: Any, code: str = "RLX20") -> list[tuple[str, str, str | None]]:
    """Code, verdict and binding of what is reported, without the rule about missing kills."""
    found = findings(module, code)
    return [(check.rule, check.verdict.value, check.binding) for check in found if check.rule != "RLX207"]


# -- what TVM makes ---------------------------------------------------------------------------

CHAIN = """
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    a = R.add(x, x)
    b = R.reshape(a, (n * 4,))
    c = R.exp(b)
    parts = R.split(R.reshape(c, (n, 4)), 2, axis=1)
    d = R.add(parts[0], parts[1])
    e = R.concat((d, d), axis=1)
    f = R.sum(e, axis=[1])
    return (f, e, x)
"""
FUNCTIONS = """
@R.function(private=True)
def pair(y: R.Tensor((8, 4), "float32")):
    a = R.add(y, y)
    b = R.exp(a)
    return (a, b)

@R.function
def main(x: R.Tensor((8, 4), "float32")):
    p = Module.pair(x)
    a = p[0]
    b = p[1]
    c = R.add(a, b)
    q = (a, b)
    d = q[1]
    e = R.add(c, d)
    return R.exp(e)
"""
KERNELS = """
@R.function
def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32")):
    a = R.matmul(x, w)
    b = R.nn.softmax(a)
    c = R.cumsum(b, axis=1)
    d = R.sort(c, axis=1)
    e = R.topk(d, k=3, axis=1)
    f = R.nn.layer_norm(d, R.sum(w, axis=[0]), R.sum(w, axis=[1]), axes=[1])
    g = R.max(f, axis=[0])
    h = R.take(g, R.const([1, 2], "int64"), axis=0)
    return (e[0], e[1], h)
"""


@pytest.mark.parametrize("body", [CHAIN, FUNCTIONS, KERNELS], ids=["chain", "functions", "kernels"])
def test_nothing_is_said_of_what_the_compiler_makes(body: str) -> None:
    for stage, module in stages(parse(body)):
        assert said(module) == [], stage


BRANCHES = """
@R.function
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    if c:
        a = R.exp(x)
        r = R.add(a, x)
    else:
        b = R.negative(x)
        r = R.multiply(b, x)
    return r
"""


def test_the_storage_of_the_other_branch_from_planning_on() -> None:
    planned = False
    for stage, module in stages(parse(BRANCHES)):
        planned = planned or stage == PLANNED
        found = findings(module, "RLX204")
        assert [(check.verdict.value, check.binding) for check in found] == (
            [("always-wrong", "alloc2")] if planned else []
        ), stage
        assert [related.message for check in found for related in check.related] == (
            ["`storage` is defined here"] if planned else []
        )


INNER = """
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    @R.function
    def f(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.exp(y)
        b = R.exp(a)
        d = R.add(b, y)
        return d
    g = R.exp(x)
    h = R.exp(g)
    k = f(h)
    return R.add(k, x)
"""


def test_the_storage_of_an_inner_function() -> None:
    (found,) = findings(dict(stages_until_planned(INNER))[PLANNED], "RLX204")
    assert found.verdict.value == "always-wrong"
    assert "which is defined only in the inner function `f`" in found.message


def stages_until_planned(body: str) -> list[tuple[str, Any]]:
    """The stages that a module with inner functions survives."""
    passes = [
        relax.transform.LegalizeOps(),
        relax.transform.ToNonDataflow(),
        relax.transform.RemovePurityChecking(),
        relax.transform.CallTIRRewrite(),
    ]
    with tvm.target.Target("llvm"):
        module = tvm.transform.Sequential(passes)(parse(body))
        return [("CallTIRRewrite", module), (PLANNED, relax.transform.StaticPlanBlockMemory()(module))]


def alias_program(alias: str) -> str:
    """A tensor that lives on as `v` while the planner reuses its storage, if it does not see that."""
    return f"""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    t = R.add(x, x)
    v = {alias}
    r = R.exp(x)
    s = R.exp(r)
    return R.add(v, s)
"""


@pytest.mark.parametrize(
    ("alias", "wrong"),
    [
        ("t", False),
        ('R.match_cast(t, R.Tensor((4,), "float32"))', BEFORE_0_27),
        (
            'R.call_packed("vm.builtin.reshape", t, R.shape([4]), ty_args=R.Tensor((4,), "float32"))',
            BEFORE_0_27,
        ),
        ('R.call_packed("vm.builtin.copy", t, ty_args=R.Tensor((4,), "float32"))', True),
        ("R.reshape(t, (4,))", False),
    ],
    ids=["name", "match_cast", "vm.builtin.reshape", "vm.builtin.copy", "reshape"],
)
def test_aliases_that_the_planner_does_not_see(alias: str, wrong: bool) -> None:
    for stage, module in stages(parse(alias_program(alias))):
        found = [verdict for rule, verdict, _ in said(module) if rule == "RLX203"]
        before = stage in ("parsed", "LegalizeOps", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite")
        assert found == (["always-wrong"] if wrong and not before else []), stage


# -- other functions --------------------------------------------------------------------------

ALIASING_CALLEE = """
@R.function(private=True)
def through(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    return {result}

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    other = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    Module.copy(x, a)
    same = Module.through(a)
    b = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    w = Module.copy(x, b)
    c = R.memory.alloc_tensor(other, 0, R.shape([4]), "float32")
    Module.add(same, b, c)
    return c
"""


def test_a_function_that_returns_its_argument_is_an_alias() -> None:
    assert said(by_hand(ALIASING_CALLEE.format(result="y"))) == [("RLX203", "always-wrong", "w")]


def test_a_function_that_returns_something_else_is_none() -> None:
    assert said(by_hand(ALIASING_CALLEE.format(result="R.add(y, y)"))) == []


RECURSIVE = """
@R.function(private=True)
def one(y: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    if c:
        r = Module.two(y, c)
    else:
        r = y
    return r

@R.function(private=True)
def two(y: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    return Module.one(y, c)
"""


def test_recursion_returns_what_some_call_returns() -> None:
    body = ALIASING_CALLEE.format(result="R.add(y, y)").replace("Module.through(a)", "Module.two(a, c0)")
    body = body.replace(
        'main(x: R.Tensor((4,), "float32"))', 'main(x: R.Tensor((4,), "float32"), c0: R.Tensor((), "bool"))'
    )
    assert said(by_hand(RECURSIVE + body)) == [("RLX203", "always-wrong", "w")]


FILLED = """
@R.function(private=True, pure=False)
def buffer() -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    return a

@R.function(private=True, pure=False)
def fill(y: R.Tensor((4,), "float32"), out: R.Tensor((4,), "float32")):
    Module.copy(y, out)
    return y

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    a = Module.buffer()
    {before}
    b = R.call_tir(Module.add, (a, x), R.Tensor((4,), "float32"))
    return b
"""


def test_a_tensor_that_another_function_allocates_and_a_third_one_fills() -> None:
    assert said(by_hand(FILLED.format(before="w = Module.fill(x, a)"))) == []


def test_a_tensor_that_another_function_allocates_and_nobody_fills() -> None:
    assert said(by_hand(FILLED.format(before="w = x"))) == [("RLX205", "always-wrong", "b")]


CAPTURED = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    Module.copy(x, a)
    @R.function(pure=False)
    def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.add(a, y)
    b = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    w = Module.copy(x, b)
    return inner({passed})
"""


def test_what_an_inner_function_uses_is_needed_until_it_is_called() -> None:
    assert said(by_hand(CAPTURED.format(passed="b"))) == [("RLX203", "always-wrong", "w")]


# -- packed functions -------------------------------------------------------------------------

PACKED = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    w = {call}
    return a
"""


def test_a_packed_function_writes_what_nothing_was_written_to() -> None:
    call = 'R.call_packed("fill", x, a, ty_args=R.Tuple)'
    assert said(by_hand(PACKED.format(call=call))) == []


def test_a_pure_packed_function_writes_nothing() -> None:
    call = 'R.call_pure_packed("look", x, a, ty_args=R.Tensor((4,), "float32"))'
    # Nor is it certain that it reads.
    assert said(by_hand(PACKED.format(call=call))) == [("RLX205", "needs-runtime-check", "w")]


def test_a_packed_function_is_taken_to_read_what_was_written() -> None:
    module = by_hand("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    Module.copy(x, a)
    b = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    w = Module.copy(x, b)
    r = R.call_packed("my.add", a, b, ty_args=R.Tensor((4,), "float32"))
    return r
""")
    (found,) = findings(module, "RLX203")
    assert (found.verdict.value, found.binding) == ("always-wrong", "w")
    assert found.assumes == ("`my.add` may read and write its arguments, but does not keep them",)


# -- byte ranges ------------------------------------------------------------------------------

PARTS = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    storage = R.memory.alloc_storage(R.shape([n * 8 + 64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
    d = Module.double(y, a)
    b = R.memory.alloc_tensor(storage, {offset}, R.shape([n]), "float32")
    w = R.call_packed("runtime.TVMTensorCopyFromTo", y, b, ty_args=R.Tuple)
    return a
"""


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        ("n * 4", []),
        ("n * 4 + 64", []),
        ("0", [("RLX203", "needs-runtime-check", "n <= 0")]),
        ("n * 2", [("RLX203", "needs-runtime-check", "n <= 0")]),
        ("16", [("RLX203", "needs-runtime-check", "n <= 4")]),
    ],
)
def test_ranges_are_compared_for_every_size(offset: str, expected: list[tuple[str, str, str]]) -> None:
    module = parse(DOUBLE + PARTS.format(offset=offset))
    assert verdicts(findings(module, "RLX203")) == expected


def test_halves_of_one_tensor_are_apart() -> None:
    module = parse("""
@T.prim_func(private=True, s_tir=True)
def reverse(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[3 - i]

@R.function(pure=False)
def main(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
    low = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(0))
    high = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(16))
    middle = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(8))
    fine = Module.reverse(low, high)
    wrong = Module.reverse(low, middle)
    return x
""")
    assert said(module) == [("RLX206", "always-wrong", "wrong")]


# -- kills ------------------------------------------------------------------------------------


def test_fields_of_a_tuple_that_is_built_share_registers_and_those_of_a_result_do_not() -> None:
    module = by_hand("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    a = R.call_tir(Module.add, (x, x), R.Tensor((4,), "float32"))
    built = (a, x)
    p = R.call_packed("pair", x, ty_args=R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")))
    b = p[0]
    k1 = R.memory.kill_tensor(a)
    k2 = R.memory.kill_tensor(b)
    first = built[0]
    again = p[0]
    use1 = R.call_tir(Module.add, (first, x), R.Tensor((4,), "float32"))
    use2 = R.call_tir(Module.add, (again, x), R.Tensor((4,), "float32"))
    return use2
""")
    assert said(module) == [("RLX201", "always-wrong", "use1")]


@pytest.mark.parametrize(
    ("killed", "used", "verdict"),
    [
        ("a", "a", "always-wrong"),
        ("b", "b", "always-wrong"),
        ("a", "b", "needs-runtime-check"),
        ("b", "a", "needs-runtime-check"),
    ],
)
def test_a_cast_may_have_a_register_of_its_own(killed: str, used: str, verdict: str) -> None:
    module = by_hand(f"""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    a = R.call_tir(Module.add, (x, x), R.Tensor((4,), "float32"))
    b = R.match_cast(a, R.Tensor((4,), "float32"))
    k1 = R.memory.kill_tensor({killed})
    use = R.call_tir(Module.add, ({used}, x), R.Tensor((4,), "float32"))
    return use
""")
    assert said(module) == [("RLX201", verdict, "use")]


def test_a_kill_in_each_branch_is_a_kill() -> None:
    module = by_hand("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    a = R.call_tir(Module.add, (x, x), R.Tensor((4,), "float32"))
    if c:
        k1 = R.memory.kill_tensor(a)
        r = x
    else:
        k2 = R.memory.kill_tensor(a)
        r = x
    use = R.call_tir(Module.add, (a, r), R.Tensor((4,), "float32"))
    return use
""")
    assert said(module) == [("RLX201", "always-wrong", "use")]


THROUGH = """
@R.function(private=True, pure=False)
def captured(out: R.Tensor((4,), "float32")) -> R.Tuple:
    w = R.call_packed("fill", out, ty_args=R.Tuple)
    b = R.call_tir(Module.add, (out, out), R.Tensor((4,), "float32"))
    return R.tuple()

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    call = Module.captured(a)
    return a
"""


def test_a_packed_function_inside_of_another_function_writes_what_nothing_was_written_to() -> None:
    assert said(by_hand(THROUGH)) == []


CAST = """
@R.function
def main(x: R.Tensor((10, 20), "float32"), y: R.Tensor("float32", ndim=2)):
    cast = R.match_cast(y, R.Tensor((10, 20), "float32"))
    c = R.add(x, cast)
    d = R.call_dps_packed("mix", (c, y), R.Tensor((10, 20), "float32"))
    return d
"""


def test_a_cast_that_is_not_trivial_keeps_its_register_when_shapes_are_lowered() -> None:
    for stage, module in stages(parse(CAST)):
        assert said(module) == [], stage


def test_element_by_element_is_fine_where_both_start_at_one_byte() -> None:
    # At m = 0 each element is written after it was read; at 1 to 3 others are overwritten; from 4 on they are apart.
    module = by_hand("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("m",), "float32")):
    m = T.int64()
    storage = R.memory.alloc_storage(R.shape([m * 4 + 64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, m * 4, R.shape([4]), "float32")
    b = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    w = Module.copy(x, a)
    w1 = Module.copy(a, b)
    return b
""")
    (check,) = findings(module, "RLX206")
    assert (check.verdict.value, check.safe_when) == ("needs-runtime-check", "m >= 4 or m <= 0")


def test_a_copy_may_be_to_its_own_place_for_some_values() -> None:
    # At m = 0 every byte of `a` is written as it is.
    module = by_hand("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("m",), "float32")):
    m = T.int64()
    R.func_attr({"tir_var_upper_bound": {"m": 2}})
    storage = R.memory.alloc_storage(R.shape([m * 4 + 64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, m * 4, R.shape([4]), "float32")
    b = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    w = Module.copy(x, a)
    w1 = Module.copy(a, b)
    return (a, b)
""")
    (check,) = findings(module, "RLX203")
    assert check.verdict.value == "needs-runtime-check"


def test_a_function_that_does_nothing_but_return_what_nothing_binds() -> None:
    vector = relax.TensorType([4], "float32")
    x, stray = relax.Var("x", vector), relax.Var("stray", vector)
    function = relax.Function([x], relax.SeqExpr([], stray), vector)
    assert said(tvm.IRModule({"main": function})) == [("RLX204", "always-wrong", None)]
