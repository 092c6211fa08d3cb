"""RLX203 of two tensors of symbolic size that overlap in part on one storage: it is wrong wherever any byte of the one
that is read is written over, whether or not small sizes come to that. Against numbers, with the VM, and with twins in
which what was damaged does not matter, or no run gets to what is wrong.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.any_extent import KERNELS
from tests.rules.checking import checks, parse

NOTHING = """
@T.prim_func(private=True, s_tir=True)
def nothing(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", offset_factor=1)
    y = T.match_buffer(b, (n,), "float32", offset_factor=1)
    for i in range(n):
        y[i] = x[i] - x[i]
"""
OF_MANY = """
@T.prim_func(private=True, s_tir=True)
def of_many(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", offset_factor=1)
    y = T.match_buffer(b, (n,), "float32", offset_factor=1)
    for i in range(n):
        y[i] = T.if_then_else(n > 16, x[i], T.float32(0))
"""
# Where each step of a reader looks that has as many as its output has elements: m of them, or 4.
LOOKS = {
    "at_the_end": "n - 1",
    "at_the_first": "i",
    "at_the_last": "n - 4 + i",
    "in_the_middle": "n // 2 + i // 4",
}
LOOKING = """
@T.prim_func(private=True, s_tir=True)
def {name}(a: T.handle, b: T.handle):
    n = T.int64()
    k = T.int64()
    x = T.match_buffer(a, (n,), "float32", offset_factor=1)
    y = T.match_buffer(b, (k,), "float32", offset_factor=1)
    for i in range(k):
        y[i] = x[{index}]
"""
OTHERS = """
@T.prim_func(private=True, s_tir=True)
def keep(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", offset_factor=1)
    for i in range(n):
        x[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def minus(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", offset_factor=1)
    y = T.match_buffer(b, (n,), "float32", offset_factor=1)
    z = T.match_buffer(c, (n,), "float32", offset_factor=1)
    for i in range(n):
        z[i] = x[i] - y[i]

@R.function(pure=False, private=True)
def keep_there(p: R.Tensor(("q",), "float32")):
    q = T.int64()
    _ = Module.keep(p)
    return p

@R.function(pure=False, private=True)
def read_there(p: R.Tensor(("q",), "float32"), o: R.Tensor(("q",), "float32")):
    q = T.int64()
    _ = Module.one_more(p, o)
    return o
"""
HARMLESS_FUNCTION = """
@R.function(pure=False)
def {name}(x: R.Tensor(("n",), "float32"), sizes: R.Shape(["m"])):
    n = T.int64()
    m = T.int64()
    known = R.assert_op(R.prim_value(T.And(n >= 17, m >= 1)), [], format="")
    s = R.memory.alloc_storage(R.shape([4 * (2 * n + 2 * m + 200)]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32", R.prim_value(0))
    _1 = Module.{first}
    u = R.memory.alloc_tensor(s, {at}, R.shape([m]), "float32", R.prim_value(0))
    _2 = Module.{write}(u)
    o = R.builtin.alloc_tensor(R.shape([{extent}]), "float32", R.prim_value(0), "global")
    o2 = R.builtin.alloc_tensor(R.shape([n]), "float32", R.prim_value(0), "global")
    o3 = R.builtin.alloc_tensor(R.shape([n]), "float32", R.prim_value(0), "global")
    {read}
"""
LOOK = "_3 = Module.{}(t, o)\n    return o"
TWICE = "_3 = Module.{0}(t, o)\n    _4 = Module.{0}(t, o2)\n    _5 = Module.minus(o, o2, o3)\n    return o3"
# Right at some sizes at which something is written over: how the tensor is filled first, where what is written begins, by
# whom, how many elements the output has, who reads, and some n and m at which it is right.
HARMLESS = {
    "end": ("one_more(x, t)", 16, "fill", "4", LOOK.format("at_the_end"), (31, 2)),
    "first_few": ("one_more(x, t)", 16, "fill", "m", LOOK.format("at_the_first"), (40, 2)),
    "last_few": ("one_more(x, t)", 16, "fill", "4", LOOK.format("at_the_last"), (300, 40)),
    "middle": ("one_more(x, t)", 16, "fill", "4", LOOK.format("in_the_middle"), (100, 2)),
    "slice": ("one_more(x, t)", 16, "fill", "4", "return R.strided_slice(t, [0], [0], [8])", (100, 40)),
    "far_slice": ("one_more(x, t)", 130, "fill", "4", "return R.strided_slice(t, [0], [0], [8])", (200, 40)),
    "alike": ("fill(t)", 16, "fill", "n", LOOK.format("one_more"), (100, 40)),
    "kept": ("one_more(x, t)", 16, "keep", "n", LOOK.format("one_more"), (100, 40)),
    "kept_by_a_function": ("one_more(x, t)", 16, "keep_there", "n", LOOK.format("one_more"), (100, 40)),
    "taken_away": ("one_more(x, t)", 130, "fill", "n", TWICE.format("one_more"), (200, 40)),
    "taken_away_by_functions": ("one_more(x, t)", 16, "fill", "n", TWICE.format("read_there"), (100, 40)),
}
FUNCTION = """
@R.function(pure=False)
def {name}(x: R.Tensor(("{read}",), "float32"), sizes: R.Shape(["n", "m"])):
    n = T.int64()
    m = T.int64()
    {known}
    s = R.memory.alloc_storage(R.shape([4 * (2 * n + 2 * m + 200)]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, {at_read}, R.shape([{read}]), "float32", R.prim_value(0))
    _1 = Module.one_more(x, t)
    u = R.memory.alloc_tensor(s, {at_written}, R.shape([{written}]), "float32", R.prim_value(0))
    _2 = Module.fill(u)
    o = R.builtin.alloc_tensor(R.shape([{read}]), "float32", R.prim_value(0), "global")
    _3 = Module.{reader}(t, o)
    return o
"""
ASSERTED = 'known = R.assert_op(R.prim_value({condition}), [], format="")'
# Where the tensor begins that is read and the one that is written, in elements, what they have, who reads.
CASES = {
    "behind": (0, 16, "n", "m", "one_more"),
    "before": (16, 0, "n", "m", "one_more"),
    "far_behind": (0, 130, "n", "m", "one_more"),
    "of_one_size": (0, 130, "n", "n", "one_more"),
    "of_sums": (3, 40, "n + m", "2 * m", "one_more"),
    "for_nothing": (0, 16, "n", "m", "nothing"),
    "for_nothing_far": (0, 130, "n", "n", "nothing"),
}
ASSERTS = {
    "never": ("n <= 16", Verdict.ALWAYS_FINE),
    "always": ("T.And(n >= 17, m >= 1)", Verdict.ALWAYS_WRONG),
}
SIZES = (0, 1, 2, 3, 15, 16, 17, 18, 37, 40, 129, 130, 131, 200)


def function(name: str, *, known: str = "", like: str = "") -> str:
    at_read, at_written, read, written, reader = CASES[like or name]
    return FUNCTION.format(
        name=name,
        at_read=4 * at_read,
        at_written=4 * at_written,
        read=read,
        written=written,
        reader=reader,
        known=known and ASSERTED.format(condition=known),
    )


def overlap(name: str, n: int, m: int) -> bool:
    """Whether an element that is read is written over."""
    at_read, at_written, *extents, _ = CASES[name]
    read, written = (eval(one, {"n": n, "m": m}) for one in extents)
    return not {*range(at_read, at_read + read)}.isdisjoint(range(at_written, at_written + written))


def text() -> str:
    """The module."""
    asserted = (function(name, known=known, like="behind") for name, (known, _) in ASSERTS.items())
    return "".join((KERNELS, NOTHING, *map(function, CASES), *asserted))


def test_it_is_wrong_wherever_a_byte_is_written_over() -> None:
    found = {one.function: one for one in checks(parse(text()), "RLX203")}
    for name in CASES:
        told = found[name]
        assert told.verdict is Verdict.NEEDS_RUNTIME_CHECK
        if name.startswith("for_nothing"):
            # It comes to the same: nothing says that it is wrong.
            assert told.safe_when is None, name
            continue
        assert told.safe_when is not None, name
        for n, m in product(SIZES, SIZES):
            assert eval(told.safe_when, {"n": n, "m": m}) == (not overlap(name, n, m)), (name, n, m)


def test_what_another_part_of_it_says_is_not_said() -> None:
    """That nothing is written (`m <= 0`) is no part of the region where so little may be written."""
    (told,) = checks(parse(KERNELS + function("before")), "RLX203")
    assert told.safe_when == "m <= 16 or n <= 0"


def test_what_is_asserted_counts() -> None:
    found = {one.function: one.verdict for one in checks(parse(text()), "RLX203")}
    assert {name: found[name] for name in ASSERTS} == {
        name: verdict for name, (_, verdict) in ASSERTS.items()
    }


@pytest.mark.parametrize(
    ("known", "verdict", "sizes"),
    [
        ("n > 16", Verdict.ALWAYS_WRONG, (17, 40)),
        ("n > 3", Verdict.NEEDS_RUNTIME_CHECK, (16, 17)),
        ("n <= 16", Verdict.NEEDS_RUNTIME_CHECK, (1, 16)),
    ],
)
def test_sizes_that_are_refused_are_not_tried(known: str, verdict: Verdict, sizes: tuple[int, int]) -> None:
    """All of it is written over; the kernel looks at it where there are more than 16 elements."""
    name = "looked_at"
    whole = FUNCTION.format(
        name=name,
        at_read=0,
        at_written=0,
        read="n",
        written="n",
        reader="of_many",
        known=ASSERTED.format(condition=known),
    )
    module = parse(KERNELS + OF_MANY + whole)
    (told,) = checks(module, "RLX203")
    assert told.verdict is verdict
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    for n in sizes:
        found = machine[name](
            tvm.runtime.tensor(np.arange(n, dtype="float32")), tvm.runtime.ShapeTuple([n, 1])
        ).numpy()
        right = np.arange(n) + 1 if n > 16 else np.zeros(n)
        assert np.array_equal(found, right) == (n <= 16), n


def harmless() -> str:
    """The module of what does no harm at some sizes."""
    looking = (LOOKING.format(name=name, index=index) for name, index in LOOKS.items())
    functions = (
        HARMLESS_FUNCTION.format(name=name, first=first, at=4 * at, write=write, extent=extent, read=read)
        for name, (first, at, write, extent, read, _) in HARMLESS.items()
    )
    return "".join((KERNELS, OTHERS, *looking, *functions))


def test_what_is_right_at_some_size_has_no_region_of_others() -> None:
    found = {one.function: one for one in checks(parse(harmless()), "RLX203")}
    for name, (*_, (n, m)) in HARMLESS.items():
        told = found[name]
        assert told.verdict is not Verdict.ALWAYS_WRONG, name
        assert told.safe_when is None or eval(told.safe_when, {"n": n, "m": m}), name


@pytest.mark.vm
def test_the_machine_gives_the_same_there() -> None:
    apart = "u2 = R.memory.alloc_storage(R.shape([4 * (2 * n + 2 * m + 200)]), 0, 'global', 'uint8')\n    u = R.memory.alloc_tensor(u2, "
    texts = harmless(), harmless().replace("u = R.memory.alloc_tensor(s, ", apart)
    machines = [relax.VirtualMachine(tvm.compile(parse(text), "llvm"), tvm.cpu()) for text in texts]
    for name, (*_, (n, m)) in HARMLESS.items():
        x = np.arange(5, n + 5, dtype="float32")
        given = tvm.runtime.tensor(x), tvm.runtime.ShapeTuple([m])
        one, other = (machine[name](*given).numpy() for machine in machines)
        assert np.array_equal(one, other), name


@pytest.mark.vm
@pytest.mark.parametrize("name", CASES)
def test_the_machine_gives_other_numbers_there(name: str) -> None:
    machine = relax.VirtualMachine(tvm.compile(parse(text()), "llvm"), tvm.cpu())
    for n, m in product((1, 3, 16, 17, 131), (0, 1, 17, 40)):
        count = eval(CASES[name][2], {"n": n, "m": m})
        x = np.arange(5, count + 5, dtype="float32")
        right = (x + 1) * 0 if CASES[name][4] == "nothing" else x + 2
        found = machine[name](tvm.runtime.tensor(x), tvm.runtime.ShapeTuple([n, m])).numpy()
        is_damaged = overlap(name, n, m) and CASES[name][4] == "one_more"
        assert np.array_equal(found, right) == (not is_damaged), (n, m)
