"""Extents of results of functions, which VMShapeLower takes out of their types."""

from __future__ import annotations

import sympy

from relax_lint.judging.report import check_module
from relax_lint.model.builder import build_program
from relax_lint.model.types import TensorType
from relax_lint.settings.config import Config
from tests.rules.checking import parse, stages

CALLEE = """
@R.function(private=True)
def callee(y: R.Tensor(("m", 4), "float32"), z: R.Tensor(("k",), "float32")) -> {returns}:
    m, k = T.int64(), T.int64()
    {body}
    return r

@R.function
def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((6,), "float32")):
    n = T.int64()
    a = R.add(x, x)
    b: {seen} = Module.callee(a, w)
    c = {use}
    return c
"""
SAME, SEEN = 'R.Tensor(("m", 4), "float32")', 'R.Tensor((n, 4), "float32")'


def _lowered(
    body: str, returns: str = SAME, seen: str = SEEN, use: str = "R.exp(b)"
) -> list[tuple[str, object]]:
    return stages(parse(CALLEE.format(body=body, returns=returns, seen=seen, use=use)))


def _shape(module: object, name: str) -> tuple[str, ...] | None:
    (main,) = [f for f in build_program(module).functions if f.name == "main"]
    types = [v.type for v in main.values.values() if v.name == name]
    assert isinstance(types[0], TensorType)
    return None if types[0].shape is None else tuple(map(str, types[0].shape))


def test_the_extents_of_a_result_are_those_of_the_arguments() -> None:
    for stage, module in _lowered("r = R.exp(y)"):
        shape = _shape(module, "b")
        assert shape is not None, stage
        assert shape[1] == "4"
        assert sympy.sympify(shape[0]).is_Symbol
        found = check_module(module, Config(select=("RLX301",))).checks
        assert {check.verdict.value for check in found} <= {"always-fine"}, stage


def test_a_parameter_may_be_handed_back() -> None:
    for _, module in _lowered("r = y"):
        assert _shape(module, "b") is not None


def test_a_result_of_numbers_and_arguments() -> None:
    lowered = dict(
        _lowered(
            "r = R.concat((z, z), axis=0)",
            'R.Tensor(("k * 2",), "float32")',
            'R.Tensor((12,), "float32")',
        )
    )
    assert _shape(lowered["VMShapeLower"], "b") == ("12",)


def test_what_is_only_declared_is_not_known() -> None:
    lowered = dict(
        _lowered('r = R.call_pure_packed("some.function", y, ty_args=R.Tensor((m, 4), "float32"))')
    )
    assert _shape(lowered["VMShapeLower"], "b") is None


def test_a_function_that_calls_itself_has_an_end() -> None:
    lowered = dict(_lowered("r = Module.callee(y, z)"))
    assert _shape(lowered["VMShapeLower"], "b") is None


def test_an_inner_function_whose_type_has_no_shape() -> None:
    module = parse(
        """
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor:
    @R.function
    def inner(y: R.Tensor) -> R.Tensor:
        z = R.add(y, y)
        return z

    r = inner(x)
    return r
"""
    )
    assert [function.name for function in build_program(module).functions] == ["main", "main.inner"]
