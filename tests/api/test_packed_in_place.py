"""The instrument remembers what `R.call_inplace_packed` declared, though RemovePurityChecking makes plain packed
calls of it before anything is planned.
"""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax

import relax_lint
from relax_lint.replay.modules import load_module
from relax_lint.vm.packed_in_place import declared_in, restored

PROGRAM = """
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        {first}
        b: R.Tensor((4,), "float32") = {call}
        c = R.multiply(x, x)
        d = R.add(c, c)
        e = R.add(b, d)
        return e
"""
IN_PLACE = 'R.call_inplace_packed("some.update", a, inplace_indices=[0], ty_args=R.Tensor((4,), "float32"))'
PLAIN = 'R.call_packed("some.update", a, ty_args=R.Tensor((4,), "float32"))'


def module(call: str, first: str = "a = R.add(x, x)") -> Any:
    return load_module(PROGRAM.format(first=first, call=call), "script")


def found_by_pipeline(program: Any) -> set[tuple[str | None, str]]:
    lint = relax_lint.MemoryLint(fail_on=None)
    with tvm.target.Target("llvm"), tvm.transform.PassContext(instruments=[lint]):
        relax.get_pipeline("default_build")(program)
    return {(found.introduced_by, found.check.rule) for found in lint.findings}


def test_a_result_that_is_an_argument_is_followed_through_planning() -> None:
    introduced = found_by_pipeline(module(IN_PLACE))
    assert any(made_by == "StaticPlanBlockMemory" for made_by, _ in introduced)
    assert not found_by_pipeline(module(PLAIN))


def test_an_overwritten_constant_is_found_before_the_declaration_is_gone() -> None:
    constant = 'a = R.const([1.0, 2.0, 3.0, 4.0], "float32")'
    assert any(rule == "RLX206" for _, rule in found_by_pipeline(module(IN_PLACE, constant)))


def test_what_is_called_in_two_ways_is_declared_as_neither() -> None:
    assert declared_in(module(IN_PLACE)) == {"some.update": (0,)}
    assert declared_in(module(PLAIN)) == {}
    both = module(IN_PLACE, "z = R.add(x, x)\n        a = " + PLAIN.replace(" a,", " z,"))
    assert declared_in(both) == {}


@pytest.mark.parametrize(("declared", "changes"), [({"some.update": (0,)}, True), ({"another": (0,)}, False)])
def test_plain_calls_become_what_they_were(declared: dict[str, tuple[int, ...]], changes: bool) -> None:
    plain = module(PLAIN)
    after = restored(plain, declared)
    assert (after is not plain) == changes
    assert declared_in(after) == (declared if changes else {})


def test_a_call_whose_argument_has_lost_its_shape_stays_plain() -> None:
    # VMShapeLower drops shapes, and TVM makes no in-place call of arguments that its result does not have the type of.
    plain = module(
        PLAIN,
        'a: R.Tensor(dtype="float32", ndim=1) = R.call_packed("any", x, ty_args=R.Tensor(dtype="float32", ndim=1))',
    )
    assert restored(plain, {"some.update": (0,)}) is plain


TWO = """
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function(pure=False)
    def first(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        b: R.Tensor((4,), "float32") = {one}
        return b

    @R.function(pure=False)
    def second(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        b: R.Tensor((4,), "float32") = {two}
        return b
"""


@pytest.mark.parametrize(
    ("one", "two", "declared"),
    [
        (IN_PLACE, IN_PLACE.replace("some.", "other."), {"some.update": (0,), "other.update": (0,)}),
        (IN_PLACE, PLAIN, {}),
        (PLAIN, IN_PLACE, {}),
        (PLAIN.replace("some.", "other."), IN_PLACE, {"some.update": (0,)}),
    ],
)
def test_every_function_of_a_module_counts(one: str, two: str, declared: dict[str, tuple[int, ...]]) -> None:
    assert declared_in(load_module(TWO.format(one=one, two=two), "script")) == declared


def test_calls_are_restored_in_every_function() -> None:
    plain = load_module(TWO.format(one=PLAIN, two=PLAIN), "script")
    after = restored(plain, {"some.update": (0,)})
    assert [name for name in ("first", "second") if "inplace_packed" in after[name].script()] == [
        "first",
        "second",
    ]
