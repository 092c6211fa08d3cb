"""RLX205 where what is filled is a part of a tensor that somebody handed back: a function, a branch, a builtin.

`w` has eight elements, of which `v` is a part (elements 2 and 3) or all. `v` is filled, the first two elements
of `w` are read: they are written only if `v` is all of it.
"""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.ways import FILL_AND_SUM

MODULE = (
    FILL_AND_SUM
    + """
@T.prim_func(private=True, s_tir=True)
def fill_with_two(b: T.Buffer((8,), "float32")):
    for i in range(8):
        b[i] = T.float32(2)

@R.function(private=True, pure=False)
def seen(a: R.Tensor((8,), "float32")) -> TYPE:
    o = PART(a)
    return o

@R.function(private=True, pure=False)
def twice(a: R.Tensor((8,), "float32")) -> R.Tuple(TYPE, TYPE):
    o = PART(a)
    return (o, o)

@R.function(private=True, pure=False)
def made(z: R.Tensor((1,), "float32")) -> R.Tuple(PAIR):
    s = R.memory.alloc_storage(R.shape([32]), 0, "global", "uint8")
    o = R.memory.alloc_tensor(s, 0, R.shape([8]), "float32")
    p = PART(o)
    return (o, p)

@R.function(private=True, pure=False)
def filled(a: R.Tensor((8,), "float32")) -> TYPE:
    o = PART(a)
    _o = Module.fill(o)
    return o

@R.function(private=True, pure=False)
def same(a: TYPE) -> TYPE:
    return a

@R.function(private=True, pure=False)
def either(a: TYPE, b: TYPE, g: R.Tensor((), "bool")) -> TYPE:
    if g:
        o = a
    else:
        o = b
    return o

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), g: R.Tensor((), "bool"), e: R.Tensor((1,), "float32")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([n * 64 + 256]), 0, "global", "uint8")
    w = R.memory.alloc_tensor(s, 64, R.shape([8]), "float32")
LINES
    u = R.memory.view(w, R.shape([2]), "float32", 0)
    _ = Module.add_up(u, e)
    return e
"""
)
WAYS = {
    "a view": ["v = PART(w)"],
    "what a function gives back": ["v = Module.seen(w)"],
    "a field of what a function gives back": ["t = Module.twice(w)", "v = t[1]"],
    "a function returns its parameter": ["a = PART(w)", "v = Module.same(a)"],
    "a function returns one of two parameters": ["a = PART(w)", "b = PART(w)", "v = Module.either(a, b, g)"],
    "a view of a view": ["a = R.memory.view(w, R.shape([8]), 'float32', 0)", "v = Module.seen(a)"],
    "an if": ["if g:", "    a = PART(w)", "    v = a", "else:", "    b = PART(w)", "    v = b"],
    "an if inside of an if": [
        "if g:",
        "    if g:",
        "        a = PART(w)",
        "        h = a",
        "    else:",
        "        b = PART(w)",
        "        h = b",
        "    v = h",
        "else:",
        "    c = PART(w)",
        "    v = c",
    ],
    "a field of a tuple": ["a = PART(w)", "t = (e, a)", "v = t[1]"],
    "a builtin makes a tuple": [
        "a = PART(w)",
        "t = R.call_packed('vm.builtin.make_tuple', a, a, ty_args=R.Tuple(TYPE, TYPE))",
        "v = t[0]",
    ],
    "a builtin takes a field": [
        "a = PART(w)",
        "t = (a, a)",
        "v = R.call_packed('vm.builtin.tuple_getitem', t, 0, ty_args=TYPE)",
    ],
    "a function inside": [
        "@R.function(pure=False)",
        "def inner(a: R.Tensor((8,), 'float32')) -> TYPE:",
        "    o = PART(a)",
        "    return o",
        "v = inner(w)",
    ],
}


def judged(part: bool, *lines: str, of: str = "w", order: str = "(o, p)") -> list[str]:
    """What is said of a tensor; nothing where all of it is certain to be written."""
    size, start = (2, 8) if part else (8, 0)
    text = MODULE.replace("LINES", "\n".join(f"    {line}" for line in lines)).replace("(o, p)", order)
    text = text.replace("PAIR", "TYPE, WHOLE" if order == "(p, o)" else "WHOLE, TYPE")
    for name in ("a", "o", "w"):
        text = text.replace(f"PART({name})", f"R.memory.view({name}, R.shape([{size}]), 'float32', {start})")
    text = text.replace("TYPE", f'R.Tensor(({size},), "float32")').replace(
        "WHOLE", 'R.Tensor((8,), "float32")'
    )
    return [one.verdict.value for one in checks(parse(text), "RLX205") if f"`{of}`" in one.message]


@pytest.mark.parametrize("way", WAYS)
def test_a_filled_part_does_not_fill_the_rest(way: str) -> None:
    assert judged(True, *WAYS[way], "_v = Module.fill(v)") == ["needs-runtime-check"]


@pytest.mark.parametrize("way", [way for way in WAYS if way != "a builtin takes a field"])
def test_all_of_it_fills_it(way: str) -> None:
    """Where the builtin's result starts is not known, so that it is not known to be all of `w`."""
    assert judged(False, *WAYS[way], "_v = Module.fill(v)") == []


def test_a_function_fills_the_part_that_it_gives_back() -> None:
    assert judged(True, "v = Module.filled(w)") == ["needs-runtime-check"]
    assert judged(False, "v = Module.filled(w)") == []


def test_a_call_that_may_write_what_it_is_given_writes_no_more() -> None:
    """That it writes is assumed; of a part, that does not reach what is read."""
    lines = ["a = PART(w)", "v = R.call_packed('same', a, ty_args=TYPE)", "_v = Module.fill(v)"]
    assert judged(True, *lines) == ["needs-runtime-check"]
    assert judged(False, *lines) == ["always-fine"]


@pytest.mark.parametrize("order", ["(o, p)", "(p, o)"])
def test_a_part_of_a_tensor_that_comes_with_it(order: str) -> None:
    """A function makes a tensor and returns it with a part: what is written through one is not all of both."""
    part, all_ = (1, 0) if order == "(o, p)" else (0, 1)
    lines = [f"v = t[{part}]", "_v = Module.fill(v)", f"y = t[{all_}]", "_y = Module.add_up(y, e)"]
    lines = ["t = Module.made(e)", *lines, "_w = Module.fill(w)"]
    assert judged(True, *lines, of="t", order=order) == ["needs-runtime-check"]
    assert judged(False, *lines, of="t", order=order) == ["always-fine"]


@pytest.mark.parametrize("call", ["call_packed", "call_pure_packed"])
def test_what_a_call_returns_may_be_what_it_was_given(call: str) -> None:
    """`o` is written over `w`, which is read later. What the call returned may be `w`: where that is filled in
    between, the run may be right (RLX203).
    """
    lines = ["_w = Module.fill(w)", f"v = R.{call}('same', w, ty_args=R.Tensor((8,), 'float32'))"]
    lines += ["o = R.memory.alloc_tensor(s, 64, R.shape([8]), 'float32')", "_o = Module.fill_with_two(o)"]
    text = MODULE.replace("PAIR", "WHOLE, WHOLE").replace("TYPE", "WHOLE").replace("PART", "")
    text = text.replace("WHOLE", 'R.Tensor((8,), "float32")')
    verdicts = []
    for again in ([], ["_v = Module.fill(v)"]):
        body = "\n".join(f"    {line}" for line in [*lines, *again])
        found = checks(parse(text.replace("LINES", body)), "RLX203")
        verdicts.append([one.verdict.value for one in found if one.message.startswith("`o`")])
    assert verdicts == [["always-wrong"], ["needs-runtime-check"]]
