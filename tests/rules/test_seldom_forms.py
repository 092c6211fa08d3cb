"""Forms of programs that are seldom written: tuples of everything, joined storages, numbers from a shape heap."""

from __future__ import annotations

import pytest

from relax_lint.judging.report import check_module
from relax_lint.settings.config import Config
from tests.rules.checking import parse
from tests.rules.four_elements import KERNELS

FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"
STORE = 'R.memory.alloc_storage(R.shape([{}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
PUT = 'R.memory.alloc_tensor({}, R.prim_value({}), R.shape([{}]), R.dtype("float32"))'
REVERSED = (
    KERNELS
    + """
@T.prim_func(private=True, s_tir=True)
def turn(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[3 - i]
"""
)


def said(body: str, rule: str) -> dict[str, tuple[str, str | None]]:
    """The verdict and the safe region at each binding."""
    checks = check_module(parse(body), Config(select=(rule,))).checks
    return {check.binding or "": (check.verdict.value, check.safe_when) for check in checks}


def test_the_fields_of_a_tuple_that_is_passed() -> None:
    body = f"""
@R.function(pure=False)
def main(t: R.Tuple(R.Tensor(("n",), "float32"), R.Tuple(R.Tensor(("m",), "float32"), R.Shape(["k"])))):
    n = T.int64()
    m = T.int64()
    k = T.int64()
    s = {STORE.format("4 * n + 4 * m")}
    a = {PUT.format("s", "4 * m", "n")}
    b = {PUT.format("s", 0, "m")}
    c = {PUT.format("s", 0, "k")}
    return (a, b, c)
"""
    assert said(body, "RLX101") == {"a": (FINE, None), "b": (FINE, None), "c": (UNSURE, "k <= m + n")}
    # An extent is not negative; what a shape holds may be.
    assert said(body, "RLX104")["b"] == (FINE, None)
    assert said(body, "RLX104")["c"] == (UNSURE, "k >= 0")


@pytest.mark.parametrize(
    ("target", "verdict"),
    [("(n,)", FINE), ("(n + 1,)", FINE), ("(n - 1,)", WRONG)],
)
def test_a_cast_of_a_tuple_compares_its_fields(target: str, verdict: str) -> None:
    body = f"""
@R.function(pure=False)
def main(t: R.Tuple(R.Tensor(ndim=1, dtype="float32"), R.Tensor(("q",), "float32"))):
    n = T.int64()
    q = T.int64()
    u = R.match_cast(t, R.Tuple(R.Tensor((n,), "float32"), R.Tensor({target}, "float32")))
    s = {STORE.format("4 * q")}
    a = {PUT.format("s", 0, "n")}
    return a
"""
    assert said(body, "RLX101")["a"][0] == verdict


@pytest.mark.parametrize(
    ("declared", "target", "field", "extent", "verdict"),
    [
        ("R.Tuple(R.Tensor((q,), 'float32'), R.Shape([q + 1]))", "R.Tensor((n,), 'float32'), R.Shape([m])", "n", 0, FINE),
        ("R.Tuple(R.Tensor((q,), 'float32'), R.Shape([q + 1]))", "R.Tensor((n,), 'float32'), R.Shape([m])", "m", 0, WRONG),
        ("R.Tuple(R.Tensor((q,), 'float32'), R.Shape([q + 1]))", "R.Tensor((n,), 'float32'), R.Shape([m])", "m", 1, FINE),
        ("R.Tuple(R.Tensor((q,), 'float32'), R.Shape([q + 1]))", "R.Tensor((n,), 'float32'), R.Shape([m])", "n + 1", 1, FINE),
    ],
)  # fmt: skip
def test_a_symbol_that_a_cast_defines_is_what_was_declared(
    declared: str, target: str, field: str, extent: int, verdict: str
) -> None:
    body = f"""
@R.function(pure=False)
def main(x: R.Tensor(("q",), "float32")):
    n = T.int64()
    m = T.int64()
    q = T.int64()
    t = R.call_packed("my.pair", x, ty_args={declared})
    u = R.match_cast(t, R.Tuple({target}))
    s = {STORE.format(f"4 * q + {4 * extent}")}
    a = {PUT.format("s", 0, field)}
    return a
"""
    assert said(body, "RLX101")["a"][0] == verdict


JOINED = f"""
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    if c:
        p = {STORE.format("{one}")}
        s = p
    else:
        q = {STORE.format("{other}")}
        s = q
    a = {PUT.format("s", 0, "n")}
    return a
"""


@pytest.mark.parametrize(
    ("one", "other", "verdict", "safe"),
    [
        ("4 * n", "4 * n + 4", FINE, None),
        ("4 * n", "4 * n - 4", UNSURE, None),
        ("4 * n - 4", "4 * n", UNSURE, None),
        ("4 * n - 8", "4 * n - 4", WRONG, None),
        ("4 * n", "16", UNSURE, "n <= 4"),
        ("16", "4 * n", UNSURE, "n <= 4"),
    ],
)
def test_the_storage_of_one_branch_or_the_other(one: str, other: str, verdict: str, safe: str | None) -> None:
    assert said(JOINED.format(one=one, other=other), "RLX101")["a"] == (verdict, safe)


@pytest.mark.parametrize(
    ("number", "kernel", "verdict"),
    [
        ("R.prim_value(0)", "turn", WRONG),
        ("R.prim_value(1)", "turn", FINE),
        ("i", "turn", UNSURE),
        ("i", "double", FINE),
    ],
)
def test_the_field_of_a_tuple_by_its_number(number: str, kernel: str, verdict: str) -> None:
    body = f"""{REVERSED}
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32"), i: R.Prim("int64")):
    t = R.call_packed("vm.builtin.make_tuple", x, y,
        ty_args=R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")))
    e = R.call_packed("vm.builtin.tuple_getitem", t, {number}, ty_args=R.Tensor((4,), "float32"))
    k = Module.{kernel}(e, x)
    return y
"""
    verdicts = {check for check, _ in said(body, "RLX206").values()} | {FINE}
    assert max(verdicts, key=(FINE, UNSURE, WRONG).index) == verdict


HEAP = """
@T.prim_func(private=True, s_tir=True)
def computed(H: T.Buffer((T.int64(3),), "int64")):
    H[T.int64(1)] = H[T.int64(0)] * T.int64(4)

@R.function(pure=False)
def main(x: R.Tensor(dtype="float32", ndim=1), w: R.Prim("int64")):
    R.func_attr({"relax.force_pure": True})
    heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(3),),
        ty_args=(R.Tensor(dtype="int64", ndim=1),))
    m0 = R.call_packed("vm.builtin.match_shape", x, heap, R.prim_value(1), R.prim_value(1), R.prim_value(0),
        R.str(""), ty_args=(R.Tuple(),))
    m1 = R.call_packed("vm.builtin.match_prim_value", w, heap, R.prim_value(1), R.prim_value(2), R.str(""),
        ty_args=(R.Tuple(),))
    f = Module.computed(heap)
    p = R.call_packed("vm.builtin.make_prim_value", heap, R.prim_value(1), R.prim_value(SLOT),
        ty_args=(R.Prim("int64"),))
    bytes = R.call_packed("vm.builtin.make_shape", heap, R.prim_value(1), R.prim_value(1), R.prim_value(1),
        ty_args=(R.Shape(ndim=1),))
    of = SHAPE
    s = R.call_builtin_with_ctx("vm.builtin.alloc_storage",
        (bytes, R.prim_value(0), R.dtype("uint8"), R.str("global")), ty_args=(R.Object,))
    a = R.call_packed("vm.builtin.alloc_tensor", s, START, of, R.dtype("float32"),
        ty_args=(R.Tensor(dtype="float32", ndim=1),))
    return a
"""
MADE = (
    'R.call_packed("vm.builtin.make_shape", heap, R.prim_value(1), R.prim_value(1), R.prim_value({}), '
    "ty_args=(R.Shape(ndim=1),))"
)
OWN = 'R.call_packed("vm.builtin.shape_of", x, ty_args=(R.Shape(ndim=1),))'


@pytest.mark.parametrize(
    ("shape", "start", "slot", "verdict", "safe"),
    [
        (OWN, "R.prim_value(0)", 0, FINE, None),
        (MADE.format(0), "R.prim_value(0)", 0, FINE, None),
        (MADE.format(1), "R.prim_value(0)", 0, UNSURE, "shape_0 <= 0"),
        (OWN, "p", 1, UNSURE, "shape_0 <= 0"),
        (OWN, "p", 0, UNSURE, "shape_0 <= 0"),
        (MADE.format(2), "R.prim_value(0)", 2, UNSURE, None),
        (OWN, "p", 2, UNSURE, None),
    ],
)
def test_numbers_from_a_shape_heap(shape: str, start: str, slot: int, verdict: str, safe: str | None) -> None:
    text = HEAP.replace("SLOT", str(slot)).replace("SHAPE", shape).replace("START", start)
    found = said(text, "RLX101")["a"]
    assert found[0] == verdict
    if safe is not None:
        assert found[1] == safe
