"""Lifetime rules where the pages do not reach: other functions, tuples, packed functions, kills."""

from __future__ import annotations

import pytest
import tvm
from tvm import relax

from tests.rules.by_hand import by_hand, said
from tests.rules.checking import findings

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
    w = Module.add(x, x, b)
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
    w = Module.add(x, x, b)
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
    # It only says so of itself: if it writes, what is returned is right. Nothing uses what it returns, so that it
    # may be left out too.
    assert said(by_hand(PACKED.format(call=call))) == [("RLX205", "needs-runtime-check", "a")]
    # Nor is it certain that it reads, or that who is given the result looks at it.
    used = f"{call}\n    y = R.call_packed('use', w, ty_args=R.Tuple)"
    assert said(by_hand(PACKED.format(call=used))) == [("RLX205", "needs-runtime-check", "a")]


def test_a_packed_function_is_taken_not_to_fill_what_was_written() -> None:
    """It may not look at it either."""
    module = by_hand("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    Module.copy(x, a)
    b = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    w = Module.add(x, x, b)
    r = R.call_packed("my.add", a, b, ty_args=R.Tensor((4,), "float32"))
    return r
""")
    (found,) = findings(module, "RLX203")
    assert (found.verdict.value, found.binding) == ("needs-runtime-check", "w")
    assert found.assumes == ("`my.add` may read and write its arguments, but does not keep them",)


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
    use2 = R.call_tir(Module.add, (again, use1), R.Tensor((4,), "float32"))
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


def test_a_function_that_does_nothing_but_return_what_nothing_binds() -> None:
    vector = relax.TensorType([4], "float32")
    x, stray = relax.Var("x", vector), relax.Var("stray", vector)
    function = relax.Function([x], relax.SeqExpr([], stray), vector)
    assert said(tvm.IRModule({"main": function})) == [("RLX204", "always-wrong", None)]
