"""Every form in which kernels index: a twin that is inside in every call, one that is not, one that depends."""

from __future__ import annotations

from itertools import product
from textwrap import dedent, indent

import pytest
import sympy
import tvm

from relax_lint.model.kernel_access.accesses import KernelAccess, KernelAccesses
from relax_lint.model.kernel_access.trial import Outcome, attempt
from relax_lint.model.prim_funcs import read_kernel

HEAD = """\
@T.prim_func(private=True{blocks})
def f(a: T.handle, b: T.handle{more}):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, ({x},), "{dtype}")
    y = T.match_buffer(b, ({y},), "float32")
"""


def accesses(
    body: str, *, x: str = "n", y: str = "m", more: str = "", dtype: str = "float32"
) -> KernelAccesses:
    """What is read from a kernel of two buffers."""
    blocks = ", s_tir=True" if "sblock" in body else ""
    text = HEAD.format(blocks=blocks, more=more, x=x, y=y, dtype=dtype)
    function = tvm.script.from_source(
        text + indent(dedent(body).strip("\n"), "    "), check_well_formed=False
    )
    return read_kernel("f", function).accesses


def of_x(body: str, **shapes: str) -> list[KernelAccess]:
    """The accesses of `x`."""
    return [access for access in accesses(body, **shapes).accesses if access.buffer.parameter == 0]


def outside(access: KernelAccess) -> set[str]:
    """The conditions under which an access is outside, as text."""
    show = access.terms.expression
    return {" & ".join(sorted(f"{show(p)} >= 0" for p in one.outside)) for one in access.obligations}


TAIL = "for i, t in T.grid((n + 15) // 16, 16):\n    {guard}y[0] = x[i * 16 + t]"
PREDICATE = """
for i, t in T.grid((n + 15) // 16, 16):
    with T.sblock("b"):
        v = T.axis.spatial(n, i * 16 + t)
        T.where(i * 16 + t < n)
        y[0] = x[v]
"""
COUNTED = """
k = T.alloc_buffer((1,), "int64")
k[0] = T.int64(0)
while k[0] < n:
    y[0] = x[k[0]]
    k[0] = k[0] + T.int64(1)
"""
COOPERATIVE = """
for i in T.thread_binding((n + 31) // 32, thread="blockIdx.x"):
    for t in T.thread_binding(32, thread="threadIdx.x"):
        for s in T.thread_binding(32, thread="threadIdx.x"):
            if i * 32 + t < n:
                y[0] = x[i * 32 + s]
"""
WINDOW = """
for i in range(n // 16):
    with T.sblock("b"):
        v = T.axis.spatial(n // 16, i)
        z = T.match_buffer(x[v * 16:v * 16 + 16], (16,), "float32", offset_factor=1)
        for j in range(16):
            z[j{}] = T.float32(0)
"""
CONTINUED = "for i in range(m):\n    if i >= n:\n        {}\n    y[i] = x[i]"

INSIDE = {
    "a guard": "for i in range(m):\n    if i + 2 < n:\n        y[i] = x[i + 2]",
    "a guard that is negated": "for i in range(m):\n    if not (i >= n):\n        y[i] = x[i]",
    "a guard of two": "for i in range(m):\n    if i != n - 1 and i < n:\n        y[i] = x[i + 1]",
    "else": "for i in range(m):\n    if i >= n:\n        y[i] = T.float32(0)\n    else:\n        y[i] = x[i]",
    "if_then_else": "for i in range(m):\n    y[i] = T.if_then_else(i < n, x[i], T.float32(0))",
    "a tail": TAIL.format(guard="if i * 16 + t < n:\n        "),
    "a predicate": PREDICATE,
    "reversed": "for i in range(n):\n    y[0] = x[n - 1 - i]",
    "interleaved": "for i in range(n // 2):\n    y[0] = x[2 * i + 1] + x[2 * i]",
    "unravelled": "for i in range(n * m):\n    y[i % m] = x[i // m]",
    "joined again": "for i in range(n):\n    y[0] = x[i // m * m + i % m]",
    "clamped": "for i in range(m):\n    if n >= 1:\n        y[i] = x[T.max(T.min(i * 3 - 2, n - 1), 0)]",
    "a step": "for i in T.serial(0, n, step=3):\n    y[0] = x[i]",
    "break": CONTINUED.format("break"),
    "continue": CONTINUED.format("continue"),
    "an assertion": "assert n >= T.int64(4), 'too few'\nfor i in range(4):\n    y[0] = x[i]",
    "a counter": COUNTED,
    "one thread bound twice": COOPERATIVE,
    "vector lanes": "for i in range(n // 4):\n    y[T.ramp(0, 1, 4)] = x[T.ramp(i * 4, 1, 4)]",
    "a product": "for i in range(n):\n    for j in range(m):\n        if i * j < n:\n            y[j] = x[i * j]",
    "a window": WINDOW.format(""),
    "a scalar": "for i in range(m):\n    k = i + 1\n    if k < n:\n        y[i] = x[k]",
    "a mask": "for i in range(m):\n    if n >= 8:\n        y[i] = x[i & 7]",
    "a shift": "for i in range(n * 4):\n    y[0] = x[i >> 2]",
    "truncated": "for i in range(m):\n    y[i] = x[T.truncmod(i, n)]",
    "truncated twice": "for i in range(m):\n    if n >= 4:\n        y[i] = x[T.truncdiv(T.truncmod(i, 8), 2)]",
    "truncated and joined": "for i in range(n):\n    y[0] = x[T.truncdiv(i, 4) * 4 + T.truncmod(i, 4)]",
}


@pytest.mark.parametrize("form", INSIDE)
def test_a_form_that_stays_inside_is_proved(form: str) -> None:
    found = of_x(INSIDE[form])
    assert found
    assert all(access.proved for access in found), [outside(access) for access in found]


OUTSIDE = {
    "a guard on another index": (
        "for i in range(m):\n    if i < n:\n        y[i] = x[i + 2]",
        "m - 1 >= 0 & m - n + 1 >= 0 & n - 1 >= 0",
    ),
    "a tail": (
        TAIL.format(guard=""),
        "-n + 16*FloorDiv(n + 15, 16) - 1 >= 0 & FloorDiv(n + 15, 16) - 1 >= 0",
    ),
    "reversed": ("for i in range(n):\n    y[0] = x[n - i]", "n - 1 >= 0"),
    "interleaved": (
        "for i in range((n + 1) // 2):\n    y[0] = x[2 * i + 1]",
        "-n + 2*FloorDiv(n + 1, 2) - 1 >= 0 & FloorDiv(n + 1, 2) - 1 >= 0",
    ),
    "Select guards nothing in a vectorised loop": (
        "for i in T.vectorized(m):\n    y[i] = T.Select(i < n, x[i], T.float32(0))",
        "m - n - 1 >= 0",
    ),
    "clamped": (
        "for i in range(m):\n    y[i] = x[T.max(T.min(i * 3 - 2, n - 1), 0)]",
        "-n >= 0 & 3*m - n - 4 >= 0 & m - 1 >= 0 or -n >= 0 & m - 1 >= 0",
    ),
    "a step": (
        "for i in T.serial(0, n, step=3):\n    y[0] = x[i + 2]",
        "-n + 3*FloorDiv(n + 2, 3) - 1 >= 0 & FloorDiv(n + 2, 3) - 1 >= 0",
    ),
    "vector lanes": (
        "for i in range((n + 3) // 4):\n    y[0] = T.float32(0)\n    x[T.ramp(i * 4, 1, 4)] = T.Broadcast(T.float32(0), 4)",
        "-n + 4*FloorDiv(n + 3, 4) - 1 >= 0 & FloorDiv(n + 3, 4) - 1 >= 0",
    ),
    "one step": (
        "for i in range(m):\n    if i == 3:\n        y[i] = x[i]",
        "3 - n >= 0 & m - 4 >= 0 & m - n - 1 >= 0",
    ),
    "a window": (
        WINDOW.format(" + 1"),
        "-n + 16*FloorDiv(n, 16) >= 0 & FloorDiv(n, 16) - 1 >= 0 or FloorDiv(n, 16) - 1 >= 0",
    ),
    "another declaration": (
        'z = T.decl_buffer((4, 4), "float32", data=x.data)\nfor i, j in T.grid(4, 4):\n    z[i, j] = T.float32(0)',
        "15 - n >= 0",
    ),
    "a tail of another length": (
        "for i, t in T.grid((m + 31) // 32, 32):\n    if i * 32 + t < m:\n        y[0] = x[i * 32 + t]",
        "-n + 32*FloorDiv(m + 31, 32) - 1 >= 0 & FloorDiv(m + 31, 32) - 1 >= 0 & m - n - 1 >= 0",
    ),
    "what follows from the guard around it": (
        "if n > 3:\n    if n + m > 3:\n        y[0] = x[n]",
        "n - 4 >= 0",
    ),
    "what follows from the guard inside of it": (
        "if n + m > 3:\n    if n > 3:\n        y[0] = x[n]",
        "n - 4 >= 0",
    ),
    "two that follow": (
        "if n + m > 3:\n    if n + 2 * m > 3:\n        if n > 3:\n            y[0] = x[n]",
        "n - 4 >= 0",
    ),
}


@pytest.mark.parametrize("form", OUTSIDE)
def test_a_form_that_may_leave_has_an_exact_condition(form: str) -> None:
    body, condition = OUTSIDE[form]
    (access,) = [access for access in of_x(body) if not access.proved]
    assert all(obligation.exact for obligation in access.obligations)
    assert " or ".join(sorted(outside(access))) == condition


@pytest.mark.parametrize("form", [*INSIDE, *OUTSIDE])
def test_the_conditions_are_those_of_every_step(form: str) -> None:
    """What is said of the accesses, against every step of the loops at small sizes."""
    body = INSIDE[form] if form in INSIDE and form not in OUTSIDE else OUTSIDE.get(form, ("",))[0]
    for access in accesses(body).accesses:
        symbols = {str(atom.name): number for number, atom in enumerate(access.terms.atoms) if atom.static}
        for n, m in product(range(6), (1, 2, 5)):
            values = {symbols["n"]: n, symbols["m"]: m}
            tried = attempt(access, values)
            if tried.outcome is Outcome.UNKNOWN:
                continue
            numbers = {sympy.Symbol("n", integer=True): n, sympy.Symbol("m", integer=True): m}
            show = access.terms.expression
            said = any(
                all(show(p).subs(numbers) >= 0 for p in obligation.outside)
                for obligation in access.obligations
                # Beyond the indices themselves a trial does not look.
                if obligation.axis is not None
            )
            if access.buffer.number == access.buffer.root:
                assert said == (tried.outcome is Outcome.OUTSIDE), (access.text, n, m)


def test_an_index_that_is_loaded_depends_on_what_the_parameter_holds() -> None:
    found = accesses("for i in range(m):\n    y[x[i]] = T.float32(0)", x="m", dtype="int32").accesses
    store = found[-1]
    assert store.buffer.parameter == 1
    assert {position for one in store.obligations for position in one.holds} == {0}
    assert outside(store) == {"-min(x) - 1 >= 0 & m - 1 >= 0", "-m + max(x) >= 0 & m - 1 >= 0"}
    guarded = "for i in range(m):\n    if x[i] >= 0 and x[i] < m:\n        y[x[i]] = T.float32(0)"
    assert accesses(guarded, x="m", dtype="int32").accesses[-1].proved


def test_a_guard_does_not_outlive_a_store_to_what_it_looked_at() -> None:
    body = """
    k = T.alloc_buffer((1,), "int64")
    k[0] = T.int64(0)
    while k[0] < n:
        k[0] = k[0] + T.int64(1)
        y[0] = x[k[0]]
    """
    (access,) = of_x(body)
    assert not access.proved


def test_a_promise_is_listed_with_what_it_proves() -> None:
    body = "T.evaluate(T.assume(n >= T.int64(4)))\nfor i in range(4):\n    y[0] = x[i]"
    (access,) = of_x(body)
    assert (access.proved, access.assumed) == (True, ("T.assume(n >= T.int64(4))",))


def test_32_bit_indices_that_may_wrap_are_not_proved() -> None:
    body = 'for i in range({0}):\n    for j in range({0}):\n        y[0] = x[T.Cast("int64", i * {0} + j)]'
    (small,), (large,) = (of_x(body.format(size), x="2**40") for size in (1000, 70000))
    assert small.proved
    assert not large.proved
    assert any("wrap" in one.why for one in large.obligations)
    # What lies beyond a short row is no certain one either: it may be another number that is asked for.
    (short,) = of_x(body.format(70000), x="1000")
    assert {one.why for one in short.obligations} == {"its 32-bit index arithmetic may wrap around"}
    assert {one.exact for one in short.obligations} == {False}


def test_a_step_that_may_not_be_reached_is_no_certain_one() -> None:
    body = "for i in range(n):\n    if y[0] > T.float32(0):\n        {}\n    y[0] = x[i + 1]"
    for leave in ("break", "continue"):
        (access,) = of_x(body.format(leave))
        assert [one.exact for one in access.obligations] == [False], leave
    under = "for i in range(n):\n    if y[0] > T.float32(0):\n        y[0] = x[i + 1]"
    (access,) = of_x(under)
    assert access.obligations[0].why == "it is under a condition that depends on data"


@pytest.mark.parametrize(
    ("condition", "exact"),
    [("i < n and {}", False), ("i >= n or {}", False), ("i < n or {}", True), ("i <= n and {}", True)],
)
def test_only_what_no_target_guards_is_certain(condition: str, exact: bool) -> None:
    load = "x[i] > T.float32(0)"
    (access,) = of_x(f"for i in range(m):\n    if {condition.format(load)}:\n        y[i] = 1.0")
    assert any(one.exact for one in access.obligations) is exact
    assert any(not one.exact for one in access.obligations)
    # With numbers it is outside from `x[2]` on where the first side lets it come there.
    symbols = {str(atom.name): number for number, atom in enumerate(access.terms.atoms) if atom.static}
    sizes = {symbols["n"]: 2, symbols["m"]: 4}
    assert attempt(access, sizes).outcome is (Outcome.OUTSIDE if exact else Outcome.UNKNOWN)


def test_what_is_passed_on_is_said_not_to_be_read() -> None:
    found = accesses("T.evaluate(T.call_extern('int32', 'foo', x.data, y.access_ptr('w')))").accesses
    assert [(access.unread, access.proved) for access in found] == [
        ("its memory is passed to `foo`", False),
        ("", True),
    ]


@pytest.mark.parametrize(
    ("condition", "proved"),
    [
        ("T.EQ(i < n, i < T.int64(0))", False),
        ("T.NE(i < n, i < T.int64(0))", True),
        ("T.EQ(i < n, i >= T.int64(0))", True),
        ("T.NE(i < n, i >= T.int64(0))", False),
        ("T.NE(i >= n, i >= T.int64(0))", True),
        ("T.EQ(i >= n, i >= T.int64(0))", False),
    ],
)
def test_two_truths_are_compared_in_all_four_cases(condition: str, proved: bool) -> None:
    found = of_x(f"for i in range(m):\n    if {condition}:\n        y[i] = x[i]")
    assert [access.proved for access in found] == [proved]


def test_all_of_a_tensor_that_is_handed_on_is_read_and_written() -> None:
    array = "T.tvm_stack_make_array({}.data, T.tvm_stack_make_shape({}), 0, 1, T.float32(0), 0)"
    for size, proved in (("n", True), ("n + 1", False)):
        found = accesses(f'T.evaluate(T.call_packed("foo", {array.format("x", size)}))').accesses
        assert [(access.writes, access.unread, access.proved) for access in found] == [
            (False, "", proved),
            (True, "", proved),
        ]


def test_internal_buffers_are_judged() -> None:
    body = 'z = T.alloc_buffer(({},), "float32", scope="local")\nfor i in range(n):\n    z[i] = x[i]'
    for extent, proved in (("n", True), ("m", False)):
        (store,) = [access for access in accesses(body.format(extent)).accesses if access.writes]
        assert (store.buffer.name, store.buffer.scope, store.buffer.parameter) == ("z", "local", None)
        assert store.proved == proved


NARROW = """\
@T.prim_func(private=True)
def f(a: T.handle, b: T.handle):
    n = T.int32()
    m = T.int32()
    x = T.match_buffer(a, ({x},), "float32")
    y = T.match_buffer(b, (m,), "float32")
    for i in range({extent}):
        x[i] = T.float32(0)
"""


@pytest.mark.parametrize(
    ("x", "extent", "proved"),
    [
        ("n", "n", True),
        ("n * n", "n * n", True),
        ("n * m", "n * m", True),
        ("n", "n - m", True),
        ("n", "n - m * m", False),
    ],
)
def test_an_extent_of_32_bits_may_wrap_around_to_a_large_one(x: str, extent: str, proved: bool) -> None:
    # 5 - 46341 * 46341 is 2147479020 in 32 bits.
    function = tvm.script.from_source(NARROW.format(x=x, extent=extent), check_well_formed=False)
    (store,) = read_kernel("f", function).accesses.accesses
    assert store.proved is proved


@pytest.mark.parametrize(
    ("body", "is_known"),
    [
        ("for i in range(n):\n    assert i < m, 'no'\n    x[0] = T.float32(0)", True),
        ("for i in range(n):\n    assert n <= m, 'no'", True),
        ("if n > 0:\n    assert n <= m, 'no'", True),
        ("for i in range(n):\n    assert i // 2 < m, 'no'", False),
        ("for i in range(n):\n    if x[i] > T.float32(0):\n        assert i < m, 'no'", False),
        ("for i in range(n):\n    if x[i] > T.float32(0):\n        break\n    assert i < m, 'no'", False),
        ("for i in T.parallel(n):\n    assert i < m, 'no'", False),
        ("for i in range(m):\n    assert n <= m, 'no'", False),
        ("if m > 3:\n    assert n <= m, 'no'", False),
    ],
)
def test_what_a_loop_or_a_branch_asserts_holds_behind_it(body: str, is_known: bool) -> None:
    after = f"{body}\nfor j in range(n):\n    y[j] = T.float32(1)"
    found = accesses(after, x="n", y="m").accesses[-1]
    assert found.proved is is_known
