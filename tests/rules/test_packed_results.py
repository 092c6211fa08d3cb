"""What packed functions return may be what they were given, or what another one kept: at best fine, and then by
an assumption that is listed. Each with a twin that shares nothing.
"""

from __future__ import annotations

import pytest

from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

HEAD = f"""{KERNELS}
@T.prim_func(private=True, s_tir=True)
def turn(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", offset_factor=1)
    y = T.match_buffer(b, (4,), "float32", offset_factor=1)
    for i in range(4):
        y[i] = x[3 - i]

@R.function(private=True, pure=False)
def keep(p: {T4}):
    w = R.call_packed("my.keep", p, ty_args=R.Object)
    return w

@R.function(private=True, pure=False)
def kept(p: {T4}) -> {T4}:
    w = R.call_packed("my.kept", ty_args={T4})
    return w
"""


def judged(code: str, lines: str) -> list[Check]:
    """The checks of a rule on `main`, of which `lines` are the body."""
    for short, long in (("STORAGE", STORAGE), ("T4", T4)):
        lines = lines.replace(short, long)
    for storage in ("s", "v", "q"):
        lines = lines.replace(f"TENSOR({storage})", TENSOR.format(storage))
    head = f"@R.function(pure=False)\ndef main(x: {T4}, y: {T4}, o: R.Object):\n"
    module = parse(HEAD + "\n" + head + "\n".join(f"    {line}" for line in lines.splitlines()))
    return [check for check in checks(module, code) if check.function == "main"]


def assumptions(found: list[Check]) -> list[str]:
    """What is assumed, other than what a call says of itself; every check is fine."""
    assert {check.verdict for check in found} <= {Verdict.ALWAYS_FINE}
    return [text for check in found for text in check.assumes if "writes none of" not in text]


CALLS = ("R.call_packed", "R.call_pure_packed")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("given", "count"), [("s", 1), ("x", 0)])
def test_a_storage_that_comes_back(call: str, given: str, count: int) -> None:
    lines = f"""s = STORAGE
q = STORAGE
v: R.Object = {call}("my.f", {given}, ty_args=R.Object)
t = TENSOR(s)
_ = Module.double(x, t)
u = TENSOR(v)
_1 = Module.double(y, u)
r = R.call_tir(Module.add, (t, u), T4)
return r
"""
    found = judged("RLX203", lines)
    assert assumptions(found) == ["`my.f` returns a new tensor, none that it was given or has kept"] * count


def test_two_storages_that_may_be_the_same_argument() -> None:
    lines = """s: R.Object = R.call_pure_packed("my.f", o, ty_args=R.Object)
v: R.Object = R.call_pure_packed("my.g", {}, ty_args=R.Object)
t = TENSOR(s)
_ = Module.double(x, t)
u = TENSOR(v)
_1 = Module.double(y, u)
r = R.call_tir(Module.add, (t, u), T4)
return r
"""
    assert len(assumptions(judged("RLX203", lines.format("o")))) == 1


IN_PLACE = """w = R.call_tir_inplace(Module.twice, (a,), [0], T4)
r = R.call_tir(Module.add, (w, b), T4)
return r
"""


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ('a = R.call_tir(Module.double, (x,), T4)\nv = R.call_packed("my.f", a, ty_args=R.Object)\n'
         'b = R.call_pure_packed("my.g", v, ty_args=T4)\n', 1),
        ('a = R.call_pure_packed("my.f", o, ty_args=T4)\nb = R.call_pure_packed("my.g", o, ty_args=T4)\n', 1),
        ('p = R.call_packed("my.f", o, ty_args=R.Tuple(T4, T4))\na = p[0]\nb = p[1]\n', 1),
        ('a = R.call_tir(Module.double, (x,), T4)\nk = R.call_packed("my.keep", a, ty_args=R.Object)\n'
         'b = R.call_packed("my.kept", ty_args=T4)\n', 1),
        ('a = R.call_tir(Module.double, (x,), T4)\nk = Module.keep(a)\nb = Module.kept(x)\n', 1),
        ('a = R.call_tir(Module.double, (x,), T4)\nb = R.call_pure_packed("my.kept", y, ty_args=T4)\n', 0),
        ('b = R.call_packed("my.kept", ty_args=T4)\na = R.call_tir(Module.double, (b,), T4)\n', 0),
    ],
)  # fmt: skip
def test_a_tensor_that_comes_back_and_is_overwritten(lines: str, count: int) -> None:
    """Through an object, from one object twice, twice in a tuple, from where it was kept."""
    assert len(assumptions(judged("RLX206", lines + IN_PLACE))) == count


STORAGES = f"""
@R.function(private=True, pure=False)
def made(p: {T4}):
    s = {STORAGE}
    return s

@R.function(private=True, pure=False)
def pair(p: {T4}):
    q = {STORAGE}
    s = {STORAGE}
    r = (q, s)
    return r
"""


@pytest.mark.parametrize("given", ["s", "y"])
@pytest.mark.parametrize(
    "storage", ["s = STORAGE", "s = Module.made(x)", "w = Module.pair(x)\ns = w[1]", "q = STORAGE\ns = q"]
)
def test_a_tensor_on_a_storage_that_was_given(
    storage: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is given a storage may return a tensor on it, whoever made the storage; of `y` nobody can."""
    monkeypatch.setattr(f"{__name__}.HEAD", HEAD + STORAGES)
    lines = f"""{storage}
b = R.call_packed("my.f", {given}, ty_args=T4)
t = TENSOR(s)
_ = Module.double(x, t)
r = R.call_tir(Module.add, (b, t), T4)
return r
"""
    found = [
        check for check in judged("RLX203", lines) if check.message.startswith("`t` is written over `b`")
    ]
    said = ["`my.f` returns a new tensor, none that it was given or has kept"] if given == "s" else []
    assert assumptions(found) == said


@pytest.mark.parametrize(
    ("offset", "given", "count"),
    [("0", "t", 1), ("8", "t", 1), ("64", "t", 0), ("0", "x", 0)],
)
def test_one_call_gets_what_came_back_and_other_bytes_of_what_was_given(
    offset: str, given: str, count: int
) -> None:
    """The kernel writes a tensor on bytes of the one that the packed function may have given back."""
    lines = f"""s = R.memory.alloc_storage(R.shape([128]), 0, "global", "uint8")
t = TENSOR(s)
u = R.memory.alloc_tensor(s, {offset}, R.shape([4]), "float32")
_ = Module.double(x, t)
w = R.call_packed("my.f", {given}, ty_args=T4)
_1 = Module.turn(w, u)
return y
"""
    found = judged("RLX206", lines)
    assert assumptions(found) == ["`my.f` returns a new tensor, none that it was given or has kept"] * count
