"""What stands in a branch that no run takes, because one around it asked for the same condition."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
@T.prim_func(private=True, s_tir=True)
def flip(c: T.Buffer((), "bool")):
    c[()] = not c[()]

@T.prim_func(private=True, s_tir=True)
def put(c: T.Buffer((), "bool"), o: T.Buffer((), "bool")):
    o[()] = c[()]

@T.prim_func(private=True, s_tir=True)
def fill(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.float32(7)

@R.function(pure=False)
def main(
    c: R.Tensor((), "bool"), e: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")
) -> R.Tensor((4,), "float32"):
    cls = Module
    s = R.memory.alloc_storage(R.shape([4]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    {before}
    if {outer}:
        {inside}
        if {inner}:
            a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
            cls.fill(a)
            p = a
        else:
            b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
            cls.fill(b)
            p = b
        r = p
    else:
        r = x
    return r
"""
NOT = "d = R.logical_not(c)"
FLIP = "cls.flip(c)"
TURNED = """o = R.builtin.alloc_tensor(R.shape([]), R.dtype("bool"), R.prim_value(0))
    k0 = cls.put(c, o)
    d = R.logical_not(o)
    k1 = cls.flip(o)"""
OWN = """v = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
        cls.fill(v)"""


def judged(outer: str, inner: str, before: str = "d = c", inside: str = "w = c") -> set[str | None]:
    """The tensors that do not fit, always."""
    program = parse(PROGRAM.format(outer=outer, inner=inner, before=before, inside=inside))
    return {check.binding for check in checks(program, "RLX101") if check.verdict.value == "always-wrong"}


@pytest.mark.parametrize(
    ("said", "reached"),
    [
        (judged("c", "c"), {"a"}),
        (judged("c", "d"), {"a"}),
        (judged("d", "c"), {"a"}),
        (judged("c", "d", NOT), {"b"}),
        (judged("d", "c", NOT), {"b"}),
        (judged("c", "d", "w = c", NOT), {"b"}),
        # What writes to other memory leaves it as it is.
        (judged("c", "c", "d = c", OWN), {"a"}),
        # Another condition, or one that is not what it was, or not of what that is now.
        (judged("o", "d", TURNED), {"a", "b"}),
        (judged("d", "o", TURNED.replace("not(o)", "and(o, e)")), {"a", "b"}),
        (judged("c", "e"), {"a", "b"}),
        (judged("c", "c", "d = c", FLIP), {"a", "b"}),
        (judged("c", "d", NOT, FLIP), {"a", "b"}),
        (judged("c", "d", f"{NOT}\n    {FLIP}"), {"a", "b"}),
        (judged("c", "c", "d = c", 'w = R.call_packed("unseen", c, ty_args=R.Object)'), {"a", "b"}),
    ],
)
def test_only_what_is_reached_is_wrong(said: set[str | None], reached: set[str | None]) -> None:
    assert said == reached


def test_lifetimes_are_judged_where_they_are_reached_only() -> None:
    text = PROGRAM.format(outer="c", inner="c", before="w = c", inside="v = c")
    text = text.replace("            cls.fill(a)\n", "").replace("            cls.fill(b)\n", "")
    for name in "ab":
        call = f"k{name} = R.call_tir(cls.same, ({name},), out_ty=R.Tensor((4,), 'float32'))"
        text = text.replace(f"p = {name}", f"{call}\n            p = k{name}")
    same = """
@T.prim_func(private=True, s_tir=True)
def same(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]
"""
    told = {c.binding for c in checks(parse(same + text), "RLX205") if c.severity.value != "none"}
    assert told == {"ka"}


FOLLOWED = """
@T.prim_func(private=True, s_tir=True)
def fill(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.float32(7)

@T.prim_func(private=True, s_tir=True)
def more(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] + T.float32(1)

@R.function(pure=False)
def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    cls = Module
    v = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    {before}
    if c:
        if {inner}:
            {taken}
            p = x
        else:
            {untaken}
            p = x
        {inside}
        r = p
    else:
        r = x
    {after}
    return {result}
"""
NOTHING = "nothing{0} = x"


def told(rule: str, *, inner: str = "c", result: str = "r", **parts: str) -> list[tuple[str | None, str]]:
    """Where a rule has something to say, and the verdict."""
    names = ("before", "taken", "untaken", "inside", "after")
    filled = {name: parts.get(name, NOTHING.format(number)) for number, name in enumerate(names)}
    program = parse(FOLLOWED.format(inner=inner, result=result, **filled))
    found = (check for check in checks(program, rule) if check.verdict.value != "always-fine")
    return [(check.binding, check.verdict.value) for check in found]


def test_a_read_that_does_not_happen_hides_no_later_one() -> None:
    # Such a tensor holds whatever lay in its memory before: the random search found it returned, untold.
    assert told("RLX205", untaken="w = cls.more(v)", result="v") == [("v", "always-wrong")]
    shown = "k = cls.more(v)\n        l = R.print(v, format='')"
    assert told("RLX205", untaken="w = cls.more(v)", inside=shown) == [("k", "always-wrong")]


def test_what_is_not_carried_out_changes_nothing() -> None:
    fill, kill = "w = cls.fill(v)", "k = R.memory.kill_tensor(v)"
    assert told("RLX205", untaken=fill, result="v") == [("v", "always-wrong")]
    assert told("RLX205", taken=fill, inside="k = cls.more(v)") == []
    assert told("RLX201", before=fill, untaken=kill, result="v") == []
    assert told("RLX201", before=fill, taken=kill, inside="u = cls.more(v)") == [("u", "always-wrong")]
    # Where the condition is another one it may be carried out.
    assert told("RLX201", before=f"{fill}\n    o = R.zeros((), 'bool')", inner="o", untaken=kill, result="v")


PARTLY = """
@T.prim_func(private=True, s_tir=True)
def some(a: T.handle, y: T.Buffer((4,), "float32")):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        if i < 4:
            y[i] = x[i]

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool"), z: R.Tensor((4,), "float32")):
    n = T.int64()
    a = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    if c:
        if c:
            w = Module.some(x, a)
            p = z
        else:
            p = z
        {read}
        r = o
    else:
        r = z
    return r
"""


@pytest.mark.parametrize("read", ["o = R.add(a, z)", "o = a"])
def test_what_the_branch_that_is_taken_writes_in_part_may_be_all(read: str) -> None:
    """All four elements are written where `n` is 4 or more, and the first ones only where it is less."""
    found = checks(parse(PARTLY.format(read=read)), "RLX205")
    assert [check.verdict.value for check in found] == ["needs-runtime-check"]


CALLED = """
@R.function(private=True, pure=False)
def inner(c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    s = R.memory.alloc_storage(R.shape([8]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    if c:
        a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        p = a
    else:
        b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        p = b
    return p

@R.function(pure=False)
def main(c: R.Tensor((), "bool")):
    one = Module.inner({one})
    other = Module.inner({other})
    return (one, other)
"""
NO, YES = (f'R.const({holds}, "bool")' for holds in (False, True))


@pytest.mark.parametrize(
    ("one", "other", "reached"),
    [
        (NO, NO, {"b"}),
        (YES, YES, {"a"}),
        (NO, YES, {"a", "b"}),
        (YES, NO, {"a", "b"}),
        (NO, "c", {"a", "b"}),
        ("c", YES, {"a", "b"}),
    ],
)
def test_what_the_calls_give_decides_only_where_they_agree(one: str, other: str, reached: set[str]) -> None:
    found = checks(parse(CALLED.format(one=one, other=other)), "RLX101")
    assert {check.binding for check in found if check.verdict.value == "always-wrong"} == reached
