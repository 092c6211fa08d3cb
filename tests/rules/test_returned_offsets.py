"""Where a tensor starts that comes back from a function, or out of a tuple of a branch: RLX203 and RLX303, with what
the VM does.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
P = 'R.Tensor(("p",), "float32")'
FUNCTIONS = f"""
@T.prim_func(private=True, s_tir=True)
def one(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64())
    for i in range(n):
        x[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def two(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64())
    for i in range(n):
        x[i] = T.float32(2)

@T.prim_func(private=True, s_tir=True)
def at_zero(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        x[i] = T.float32(1)

@R.function(pure=False, private=True)
def same(t: {P}):
    return t

@R.function(pure=False, private=True)
def twice(t: {P}):
    u = Module.same(t)
    return u

@R.function(pure=False, private=True)
def pair(t: {P}, x: R.Tensor(("q",), "float32")):
    return ((x, t), x)

@R.function(pure=False, private=True)
def field(t: R.Tuple({P}, {P})):
    u = t[1]
    return u

@R.function(pure=False, private=True)
def later(t: {P}):
    u = R.memory.view(t, R.shape([2]), dtype="float32", relative_byte_offset=R.prim_value(8))
    return u

@R.function(pure=False, private=True)
def again(t: {P}, c: R.Tensor((), "bool")):
    if c:
        r = Module.again(t, c)
        u = r
    else:
        u = t
    return u

@R.function(pure=False, private=True)
def made(x: R.Tensor((4,), "float32")):
    h = R.vm.alloc_storage(R.shape([128]), R.prim_value(0), R.dtype("uint8"), R.str("global"))
    u = R.vm.alloc_tensor(h, R.prim_value(64), R.shape([4]), R.dtype("float32"))
    w = Module.one(u)
    return u

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    s = R.vm.alloc_storage(R.shape([256]), R.prim_value(0), R.dtype("uint8"), R.str("global"))
    t = R.vm.alloc_tensor(s, R.prim_value(AT), R.shape([4]), R.dtype("float32"))
    one = Module.one(t)
    LINES
"""
OVER = """v = R.vm.alloc_tensor(s, R.prim_value({}), R.shape([4]), R.dtype("float32"))
    two = Module.two(v)
    return o
"""
ONE_OR_OTHER = """if c:
        p = (t, x)
    else:
        p = (x, t)
    o = p[0]
    n = R.add(x, x)
"""
PACKED = 'R.call_packed("vm.builtin.make_tuple", x, t, ty_args=R.Tuple(F, F))'.replace(
    "F", 'R.Tensor((4,), "float32")'
)
WAYS = [
    ("o = Module.same(t)", 64),
    ("o = Module.twice(t)", 64),
    ("p = Module.pair(t, x); q = p[0]; o = q[1]", 64),
    ("o = Module.field((x, t))", 64),
    ("p = (x, t); o = Module.field(p)", 64),
    ("o = Module.later(t)", 72),
    ("q = Module.same(t); o = Module.later(q)", 72),
    ("f = Module.same; o = f(t)", 64),
    (f"p = {PACKED}; o = p[1]", 64),
    (f"p = {PACKED}; q = Module.same(p[1]); o = Module.later(q)", 72),
]


def _text(start: int, lines: str, rest: str) -> str:
    return FUNCTIONS.replace("AT", str(start)).replace(
        "LINES", lines.replace("; ", "\n    ") + "\n    " + rest
    )


def _verdicts(rule: str, text: str, at: str) -> set[Verdict]:
    found = checks(parse(text), rule)
    return {check.verdict for check in found if check.function == "main" and check.binding == at}


def _run(text: str) -> list[float]:
    machine = relax.VirtualMachine(tvm.compile(parse(text), "llvm", relax_pipeline="default"), tvm.cpu())
    given = (np.full(4, 5, "float32"), np.array(False))
    return list(machine["main"](*map(tvm.runtime.tensor, given)).numpy())


@pytest.mark.vm
@pytest.mark.parametrize(("lines", "start"), WAYS)
def test_what_comes_back_starts_where_it_was(lines: str, start: int) -> None:
    over, beside = (_text(64, lines, OVER.format(place)) for place in (start, 0))
    assert _verdicts("RLX203", over, "two") == {WRONG}
    assert 2 in _run(over)
    assert _verdicts("RLX203", beside, "two") <= {FINE}
    assert set(_run(beside)) == {1}


def test_of_a_recursion_and_of_a_branch_it_is_known_that_it_may_be_so() -> None:
    for lines in ("o = Module.again(t, c)", ONE_OR_OTHER):
        assert FINE not in _verdicts("RLX203", _text(64, lines, OVER.format(64)), "two")


@pytest.mark.vm
def test_what_a_recursion_hands_back_that_starts_at_its_data_pointer_may_go_to_any_kernel() -> None:
    lines = 'r = Module.again(x, c); o = R.match_cast(r, R.Tensor((4,), "float32"))'
    text = _text(64, lines, "z = Module.at_zero(o)\n    return o\n")
    assert _verdicts("RLX303", text, "z") <= {FINE}
    assert _run(text) == [1, 1, 1, 1]


@pytest.mark.vm
@pytest.mark.parametrize("lines", [*(lines for lines, _ in WAYS), "o = Module.made(x)"])
def test_a_kernel_that_takes_no_offset_refuses_what_comes_back(lines: str) -> None:
    text = _text(64, lines, "z = Module.at_zero(o)\n    return o\n")
    assert _verdicts("RLX303", text, "z") == {WRONG}
    with pytest.raises(Exception, match="offset"):
        _run(text)


@pytest.mark.vm
def test_what_a_function_moves_to_its_data_pointer_may_go_to_any_kernel() -> None:
    lines = "q = Module.same(t); o = R.memory.ensure_zero_offset(q)"
    text = _text(64, lines, "z = Module.at_zero(o)\n    return o\n")
    assert _verdicts("RLX303", text, "z") <= {FINE}
    assert _run(text) == [1, 1, 1, 1]


def _chain(count: int, start: int) -> str:
    """A tensor handed back through so many functions, each of which calls the next."""
    calls = "".join(
        f"\n@R.function(pure=False, private=True)\ndef f{i}(t: {P}):\n    u = Module.f{i - 1}(t)\n    return u\n"
        for i in range(1, count)
    )
    first = f"\n@R.function(pure=False, private=True)\ndef f0(t: {P}):\n    return t\n"
    text = _text(start, f"o = Module.f{count - 1}(t)", OVER.format(start))
    return first + calls + text


def test_a_long_chain_of_calls_is_followed_as_far_as_it_is_bounded() -> None:
    assert _verdicts("RLX203", _chain(100, 0), "two") == {WRONG}
    assert _verdicts("RLX203", _chain(20, 64), "two") == {WRONG}
    # More than forty calls inside of each other are not followed where they get a tensor at an offset.
    assert _verdicts("RLX203", _chain(100, 64), "two") == {UNSURE}


RESHAPED = """
@T.prim_func(private=True, s_tir=True)
def reshape(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (T.int64(4),), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (T.int64(2), T.int64(2)), "float32", elem_offset=T.int64())
    for i, j in T.grid(T.int64(2), T.int64(2)):
        with T.sblock("reshape"):
            k, l = T.axis.remap("SS", [i, j])
            y[k, l] = x[k * T.int64(2) + l]

@T.prim_func(private=True, s_tir=True)
def flat(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (T.int64(2), T.int64(2)), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (T.int64(4),), "float32", elem_offset=T.int64())
    for i, j in T.grid(T.int64(2), T.int64(2)):
        with T.sblock("flat"):
            k, l = T.axis.remap("SS", [i, j])
            y[k * T.int64(2) + l] = x[k, l]

@R.function(private=True)
def reshaped(t: R.Tensor((4,), "float32")) -> R.Tensor((2, 2), "float32"):
    with R.dataflow():
        u = R.call_tir(Module.reshape, (t,), out_ty=R.Tensor((2, 2), "float32"))
        v = u
        R.output(v)
    return v
"""
READ_RESHAPED = """v = R.vm.alloc_tensor(s, R.prim_value({}), R.shape([4]), R.dtype("float32"))
    two = Module.two(v)
    z = R.call_tir(Module.flat, (o,), out_ty=R.Tensor((4,), "float32"))
    return z
"""


@pytest.mark.vm
def test_a_kernel_of_which_tvm_makes_a_view_keeps_the_offset_in_a_function() -> None:
    over, beside = (
        RESHAPED + _text(64, "o = Module.reshaped(t)", READ_RESHAPED.format(place)) for place in (64, 0)
    )
    # Whether it becomes a view is up to TVM: what is written at byte 64 is then read.
    assert _verdicts("RLX203", over, "two") == {UNSURE}
    assert _run(over) == [2, 2, 2, 2]
    # At byte 0 it overlaps neither the view at byte 64 nor a copy.
    assert _verdicts("RLX203", beside, "two") == {FINE}
    assert _run(beside) == [1, 1, 1, 1]


FIRST = "relax_lint.tests.first_of_all"
UNKNOWN = (
    f'o = R.call_packed("{FIRST}", t, x, ty_args=R.Tensor((4,), "float32"))',
    f'u = R.call_pure_packed("{FIRST}", x, x, ty_args=R.Tensor((4,), "float32")); '
    f'o = R.call_packed("{FIRST}", t, u, ty_args=R.Tensor((4,), "float32"))',
)
READ_AGAIN = """v = R.vm.alloc_tensor(s, R.prim_value({}), R.shape([4]), R.dtype("float32"))
    two = Module.two(v)
    z = R.call_packed("relax_lint.tests.copied", o, ty_args=R.Tensor((4,), "float32"))
    return z
"""


@pytest.mark.vm
@pytest.mark.parametrize("lines", UNKNOWN)
def test_that_an_unknown_call_returns_something_new_is_listed_where_the_offset_matters(lines: str) -> None:
    tvm.register_global_func(FIRST, lambda one, other: one, override=True)
    tvm.register_global_func(
        "relax_lint.tests.copied", lambda one: tvm.runtime.tensor(one.numpy()), override=True
    )
    text = _text(64, lines, READ_AGAIN.format(64))
    found = [check for check in checks(parse(text), "RLX203") if check.binding == "two"]
    assert any(f"`{FIRST}` returns a new tensor" in text for check in found for text in check.assumes)
    assert _run(text) == [2, 2, 2, 2]
