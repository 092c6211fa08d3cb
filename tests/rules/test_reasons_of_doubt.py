"""The reason that a verdict gives for its doubt: one program for each, of which every reason is true of its program only.
Then two results in one tensor, of which the first is lost: that matters where somebody reads it.
"""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

MORE = """
@T.prim_func(private=True, s_tir=True)
def half(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def both(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)
    for i in range(4):
        z[i] = x[i] * T.float32(3)
"""
READERS = """
@T.prim_func(private=True, s_tir=True)
def through(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    T.evaluate(T.call_extern("int32", "f", x.access_ptr("r"), y.access_ptr("rw")))

@T.prim_func(private=True, s_tir=True)
def perhaps(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        if x[i] > T.float32(0):
            x[i] = y[i] * T.float32(2)
"""
CONDITION = 'R.Tensor((), "bool")'
READ = f"o = R.call_tir(Module.double, (a,), out_ty={T4})"
OVERWRITTEN = f"""
@R.function(pure=False)
def main(x: {T4}, c: {CONDITION}) -> {T4}:
    s = {STORAGE}
    a = {TENSOR.format("s")}
    s2 = {STORAGE}
    k0 = Module.double(x, a)
    k = Module.double(a, a)
    BODY
    return o
"""
ON_THE_SAME = f"b = {TENSOR.format('s')}\n    "
ON_EITHER = f"""
    if c:
        s3 = s
    else:
        s3 = s2
    b = {TENSOR.format("s3")}
    k1 = Module.double(x, b)
    {READ}
"""


def _branches(then: str, otherwise: str) -> str:
    return f"if c:\n        {then}\n        w = k2\n    else:\n        {otherwise}\n        w = k3\n    "


OTHER = 'R.call_packed("tests.other", x, ty_args=R.Tuple)'


@pytest.mark.parametrize(
    ("body", "verdict", "reason"),
    [
        (
            ON_THE_SAME + f"k1 = Module.double(x, b)\n    {READ}",
            "always-wrong",
            "constants evaluated as integers",
        ),
        (
            ON_THE_SAME + f"k1 = Module.half(x, b)\n    {READ}",
            "needs-runtime-check",
            "it may be written in part only",
        ),
        (
            ON_THE_SAME + f"k1 = Module.double(x, b)\n    k2 = Module.half(x, a)\n    {READ}",
            "needs-runtime-check",
            "it may be written again in between",
        ),
        (
            ON_THE_SAME
            + "k1 = Module.double(x, b)\n    "
            + _branches("k2 = Module.double(x, a)", f"k3 = {OTHER}")
            + READ,
            "needs-runtime-check",
            "read later only on some paths",
        ),
        (
            ON_THE_SAME + "k1 = Module.double(x, b)\n    k2 = Module.through(x, a)\n    o = x",
            "needs-runtime-check",
            "`through` may write it before it reads it",
        ),
        (
            ON_THE_SAME + "k1 = Module.double(x, b)\n    k2 = Module.perhaps(x, a)\n    o = x",
            "needs-runtime-check",
            "`perhaps` reads it only under a condition, or may not use what it reads",
        ),
        (
            ON_EITHER.strip(),
            "needs-runtime-check",
            "which storage it lies on depends on the branch taken",
        ),
    ],
)
def test_a_write_over_a_tensor_that_is_read_later(body: str, verdict: str, reason: str) -> None:
    text = OVERWRITTEN.replace("BODY", body)
    (check,) = [
        one for one in checks(parse(KERNELS + MORE + READERS + text), "RLX203") if one.binding == "k1"
    ]
    assert (check.verdict.value, check.proof) == (verdict, reason)


ONE_OF_TWO = f"""
@R.function(private=True, pure=False)
def one(p: {T4}, c: {CONDITION}) -> {T4}:
    s = {STORAGE}
    a = {TENSOR.format("s")}
    s2 = {STORAGE}
    b = {TENSOR.format("s2")}
    FIRST
    SECOND
    if c:
        r = a
    else:
        r = b
    return r

@R.function(pure=False)
def main(x: {T4}, c: {CONDITION}) -> {T4}:
    t = Module.one(x, c)
    o = R.call_tir(Module.double, (t,), out_ty={T4})
    return o
"""
NOTHING, PART, ALL = "", "Module.half(p, {})", "Module.double(p, {})"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (NOTHING, NOTHING, ("needs-runtime-check", "written only on some paths")),
        (NOTHING, PART, ("needs-runtime-check", "written only on some paths")),
        (PART, NOTHING, ("needs-runtime-check", "written only on some paths")),
        (NOTHING, ALL, ("needs-runtime-check", "written only on some paths")),
        (ALL, NOTHING, ("needs-runtime-check", "written only on some paths")),
        (PART, PART, ("needs-runtime-check", "it may be written in part only")),
        (PART, ALL, ("needs-runtime-check", "it may be written in part only")),
        (ALL, PART, ("needs-runtime-check", "it may be written in part only")),
        (ALL, ALL, None),
    ],
)
def test_what_a_function_returns_is_one_of_two_tensors(
    first: str, second: str, said: tuple[str, str] | None
) -> None:
    """Only where each is written at least in part, a part is all that may be missing."""
    lines = [f"k{name} = {how.format(name)}" if how else "" for how, name in ((first, "a"), (second, "b"))]
    text = ONE_OF_TWO.replace("FIRST", lines[0]).replace("SECOND", lines[1])
    found = [one for one in checks(parse(KERNELS + MORE + text), "RLX205") if one.function == "main"]
    assert [(one.verdict.value, one.proof) for one in found] == ([said] if said else [])


TWICE_INTO_ONE = f"""
@R.function(private=True, pure=False)
def fills(p: {T4}, q: {T4}) -> {T4}:
    k = Module.double(q, p)
    return q

@R.function(private=True, pure=False)
def reads(p: {T4}, q: {T4}) -> {T4}:
    k = Module.double(p, q)
    return q

@R.function(pure=False)
def main(x: {T4}, c: {CONDITION}) -> {T4}:
    s = {STORAGE}
    a = {TENSOR.format("s")}
    s2 = {STORAGE}
    b = {TENSOR.format("s2")}
    k = Module.both(x, a, a)
    BODY
"""


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("return a", True),
        ("return x", False),
        ("k1 = Module.double(x, a)\n    return a", False),
        ("k1 = Module.half(x, a)\n    return a", True),
        ("k1 = Module.double(a, a)\n    return a", True),
        ("k1 = Module.double(a, b)\n    return b", True),
        (f"u = {OTHER}\n    k1 = Module.double(x, a)\n    return a", False),
        (f"u = {OTHER}\n    return x", False),
        ('u = R.call_packed("tests.other", a, ty_args=R.Tuple)\n    return x', False),
        (f'u = R.call_packed("vm.builtin.copy", a, ty_args={T4})\n    return u', True),
        (f"u = R.call_tir(Module.double, (x,), out_ty={T4})\n    return u", False),
        ("u = Module.fills(a, x)\n    return a", False),
        ("u = Module.reads(a, b)\n    return x", False),
        ("u = Module.reads(a, b)\n    return u", True),
        ("u = Module.fills(b, x)\n    return a", True),
        ("u = Module.fills(b, x)\n    k1 = Module.double(x, a)\n    return a", False),
        ("n = a\n    k1 = Module.double(x, a)\n    return n", False),
        (_branches("k2 = Module.fills(a, x)", "k3 = Module.fills(b, x)") + "return a", False),
        (
            _branches("k2 = Module.double(x, a)", "k3 = Module.double(x, b)") + "return a",
            False,
        ),
        (_branches("k2 = Module.double(x, b)", "k3 = Module.double(a, b)") + "return a", True),
    ],
)
def test_a_result_that_another_one_overwrites_matters_to_whoever_reads_it(body: str, read: bool) -> None:
    """A kernel gets one tensor for both of its results: what it writes first is lost."""
    text = TWICE_INTO_ONE.replace("BODY", body)
    (check,) = [
        one
        for one in checks(parse(KERNELS + MORE + text), "RLX206")
        if one.function == "main" and one.binding == "k"
    ]
    assert check.verdict.value == ("always-wrong" if read else "needs-runtime-check")


READ_AND_GIVEN = f"""
@R.function(private=True, pure=False)
def inner(x: {T4}) -> R.Tuple({T4}, {T4}):
    s = {STORAGE}
    a = {TENSOR.format("s")}
    FIRST
    o = R.call_tir(Module.double, (a,), out_ty={T4})
    r = (a, o)
    return r

@R.function(pure=False)
def main(x: {T4}) -> R.Tuple({T4}, {T4}):
    t = Module.inner(x)
    a = t[0]
    o = t[1]
    p = R.call_tir(Module.add, (a, o), out_ty={T4})
    return (o, p)
"""


@pytest.mark.parametrize(
    ("first", "verdicts"),
    [
        # The first read is the one to mend.
        ("k = Module.double(x, x)", ["always-wrong"]),
        # Whether the part that is written is enough is another matter for each.
        ("k = Module.half(x, a)", ["needs-runtime-check", "needs-runtime-check"]),
        ('k = R.call_packed("tests.fill", a, ty_args=R.Tuple)', ["always-fine", "always-fine"]),
        ("k = Module.double(x, a)", []),
    ],
)
def test_each_read_of_what_may_be_written_in_part_is_told(first: str, verdicts: list[str]) -> None:
    """By the function that made it, and by the caller that it is given to."""
    found = checks(parse(KERNELS + MORE + READ_AND_GIVEN.replace("FIRST", first)), "RLX205")
    assert [one.verdict.value for one in found] == verdicts
