"""What is assumed of indices that are constants, computed, given or any of these together, and in which words."""

from __future__ import annotations

import pytest

from relax_lint.facts.kernel_access_verdicts import Status
from relax_lint.judging.module import ModuleJudge
from relax_lint.settings.config import Config
from tests.rules.checking import checks, parse

ONE, EIGHT = 'T.Buffer((8,), "int32")', 'R.Tensor((8,), "int32")'
MODULE = """
@T.prim_func(private=True, s_tir=True)
def fill(q: {one}):
    for i in range(8):
        q[i] = i

@T.prim_func(private=True, s_tir=True)
def take(x: T.Buffer({shape}, "float32"), z: T.Buffer((8,), "float32"), w: {one}, v: {one}, y: T.Buffer((8,), "float32")):
    s = T.alloc_buffer((4,), "float32")
    for i in range(4):
        s[i] = z[i]
    for i in range(8):
        y[i] = {index} + s[0]

@R.function
def main(x: R.Tensor({shape}, "float32"), z: R.Tensor((8,), "float32"), o: {eight}, q: {eight}):
    w = {w}
    v = {v}
    y = R.call_tir(Module.take, (x, z, w, v), R.Tensor((8,), "float32"))
    return y
"""
UP, FAR = (f'R.const({[*range(7), last]}, "int32")' for last in (7, 9))
FILL, GIVEN = f"R.call_tir(Module.fill, (), {EIGHT})", "q"


def within(name: str, last: int = 7) -> str:
    """That an argument holds indices of an axis."""
    return f"`{name}` within 0..{last} (indices of `take`, not checked)"


def inside(names: str, tensor: str) -> str:
    """That what is made of arguments are indices of a tensor."""
    return f"the indices in {names} stay inside `{tensor}` (indices of `take`, not checked)"


BOTH = "`w` and `v`"
ZEROS = 'R.const([0, 0, 0, 0, 0, 0, 0, 0], "int32")'
PROVED = {
    "a sum with zeros": ("x[w[i] + v[i]]", ZEROS, UP),
    "a sum with zeros behind": ("x[w[i] + v[i]]", UP, ZEROS),
    "a computed one and zeros": ("x[w[i] + v[i]]", FILL, ZEROS),
    "zeros and a computed one": ("x[w[i] + v[i]]", ZEROS, FILL),
    "a constant": ("x[w[i]] + z[w[i]]", UP, UP),
    "held below": ("x[w[i]] + z[T.min(w[i] + 1, 7)]", UP, UP),
    "the rest of a sum": ("x[T.floormod(w[i] + v[i], 8)]", UP, UP),
    "half of a sum": ("x[(w[i] + v[i]) // 2]", UP, UP),
    "half of a sum, one computed": ("x[(w[i] + v[i]) // 2]", UP, FILL),
    "half of a sum, the other computed": ("x[(w[i] + v[i]) // 2]", FILL, UP),
    "half of a sum, both computed": ("x[(w[i] + v[i]) // 2]", FILL, FILL),
}
ASSUMED = {
    # Of elements of a constant that are known to be outside nobody assumes that they are inside.
    "one further": ("x[w[i]] + z[w[i] + 1]", UP, UP, [("z", "")]),
    "another one, one further": (
        *("x[w[i]] + x[v[i] + 1]", UP, ZEROS.replace("0]", "7]")),
        [("x", "")],
    ),
    "turned": ("x[w[i]] + z[w[7 - i]]", FAR, UP, [("x", ""), ("z", "")]),
    "two of them": ("x[w[0]] + z[w[1]]", FAR, UP, [("x", ""), ("z", "")]),
    "beside two of them": (
        *("x[w[0] + 1] + z[w[1] - 1]", FAR, UP),
        [("x", inside("`w`", "x")), ("z", inside("`w`", "z"))],
    ),
    "a sum": ("x[w[i] + v[i]]", UP, UP, [("x", inside(BOTH, "x"))]),
    "a sum of given ones": ("x[w[i] + v[i]]", "o", GIVEN, [("x", inside(BOTH, "x"))]),
    "half of a sum, one given": ("x[(w[i] + v[i]) // 2]", UP, GIVEN, [("x", inside(BOTH, "x"))]),
    "half of a sum, the other given": ("x[(w[i] + v[i]) // 2]", GIVEN, UP, [("x", inside(BOTH, "x"))]),
    "half of a sum, one computed": ("x[(w[i] + v[i]) // 2]", FILL, GIVEN, [("x", inside(BOTH, "x"))]),
    "more than half of one": ("x[(w[i] + v[i]) // 2 + 1]", FILL, FILL, [("x", inside(BOTH, "x"))]),
    "given": ("x[w[i]]", GIVEN, UP, [("x", within("w"))]),
    "given, one further": (
        *("x[w[i] + 1] + z[w[i]]", GIVEN, UP),
        [("x", inside("`w`", "x")), ("z", within("w"))],
    ),
    "of the kernel's own": ("s[w[i]]", GIVEN, UP, [("s", within("w", 3))]),
    "of the kernel's own, a sum": ("s[w[i] + v[i]]", GIVEN, "o", [("s", inside(BOTH, "s"))]),
}
TWO_AXES = {
    "two constants": ("x[w[i], v[i]]", UP, UP, "(8, 4)", [("x", "")], ["always-fine", "needs-runtime-check"]),
    "one given": ("x[v[i], w[i]]", UP, GIVEN, "(4, 8)", [("x", within("v", 3))], ["always-fine"]),
    "both given": ("x[w[i], v[i]]", "o", GIVEN, "(8, 4)", [("x", within("w")), ("x", within("v", 3))], []),
}


def said(index: str, w: str, v: str, shape: str = "(8,)") -> tuple[list[tuple[str, str]], list[str]]:
    """The buffers of the accesses that are not proved, with each assumption; what RLX308 says."""
    module = parse(MODULE.format(one=ONE, eight=EIGHT, index=index, w=w, v=v, shape=shape))
    (function,) = [
        one for one in ModuleJudge(module, Config(select=("RLX306",))).functions() if one.facts.kernels.uses
    ]
    found = [
        (one.access.buffer.name, text)
        for use in function.facts.kernels.uses
        if use.kernel.name == "take"
        for one in function.facts.indices.verdict(use).open
        if one.status is not Status.PROVED
        for text in ([each.text for each in one.assumptions] or [""])
    ]
    return found, [check.verdict.value for check in checks(module, "RLX308")]


@pytest.mark.parametrize("kind", PROVED)
def test_what_is_inside_whatever_is_used(kind: str) -> None:
    found, constants = said(*PROVED[kind])
    assert found == []
    assert set(constants) <= {"always-fine"}


@pytest.mark.parametrize("kind", ASSUMED)
def test_what_is_assumed_of_what_is_used(kind: str) -> None:
    *given, assumed = ASSUMED[kind]
    assert said(*map(str, given))[0] == assumed


def test_a_constant_whose_ends_are_used_is_not_assumed_to_be_another_one() -> None:
    assert said("x[w[i]] + z[w[7 - i]]", FAR, UP)[1] == ["always-wrong"]


@pytest.mark.parametrize("kind", TWO_AXES)
def test_each_axis_has_its_own_indices(kind: str) -> None:
    index, w, v, shape, assumed, constants = TWO_AXES[kind]
    assert said(index, w, v, shape) == (assumed, constants)
