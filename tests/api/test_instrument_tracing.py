"""Where the instrument looks for what brought a finding in."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

import relax_lint
from relax_lint import instrument
from relax_lint.judging.report import check_module
from relax_lint.vm import versions
from tests.api.programs import OVERFLOW, parsed

OTHERS = """
    @R.function(pure=False)
    def caller(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        y: R.Tensor((m,), "float32") = Module.main(x)
        return y

    @R.function(pure=False)
    def apart(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        s = R.memory.alloc_storage(R.shape([m * 4]), 0, "global", "float32")
        y = R.memory.alloc_tensor(s, 0, R.shape([m]), "float32")
        Module.double(x, y)
        return y
"""


def _named(name: str, change: Any) -> Any:
    def changed(module: Any, _: Any) -> Any:
        return change(module)

    return tvm.transform.module_pass(changed, opt_level=0, name=name)


def _without_attribute(module: Any) -> Any:
    """Every function is another one, that says the same."""
    return tvm.IRModule({var: function.with_attr("seen", 1) for var, function in module.functions.items()})


def _without_last(module: Any) -> Any:
    kept = {var: function for var, function in module.functions.items() if var.name_hint != "last"}
    return tvm.IRModule(kept)


@pytest.fixture
def left_out(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """Of each judgement, the functions that it leaves out."""
    names: list[set[str]] = []

    def counted(module: Any, *rest: Any, **named: Any) -> Any:
        functions = versions.relax_functions(module)
        names.append(
            {name for name, function in functions if versions.identity(function) in named["without"]}
        )
        return check_module(module, *rest, **named)

    monkeypatch.setattr(instrument, "check_module", counted)
    return names


def _found(module: Any, *passes: Any) -> set[tuple[str | None, str | None]]:
    lint = relax_lint.MemoryLint(fail_on=None)
    with tvm.transform.PassContext(instruments=[lint]):
        tvm.transform.Sequential([*passes], name="all")(module)
    assert {found.check.rule for found in lint.findings} == {"RLX101"}
    return {(found.check.function, found.introduced_by) for found in lint.findings}


def test_only_functions_that_can_have_had_it_are_looked_at(left_out: list[set[str]]) -> None:
    # What is found in `main` may have been in `caller`, which calls it; not in `apart`, which is there still.
    module = parsed(OVERFLOW + OTHERS)
    assert _found(module, _named("Again", _without_attribute)) == {("main", None)}
    assert left_out == [set(), {"apart"}]


def test_a_function_that_is_gone_may_have_had_it(left_out: list[set[str]]) -> None:
    gone = OTHERS.split("    @R.function")[2].replace("apart", "last")
    module = parsed(f"{OVERFLOW}{OTHERS}\n    @R.function{gone}")
    assert _found(module, _named("Drop", _without_last)) == {("main", None)}
    assert left_out == [set(), {"apart"}]


def test_where_all_functions_have_findings_all_are_looked_at(left_out: list[set[str]]) -> None:
    others = OTHERS.replace("R.shape([m * 4])", "R.shape([16])")
    module = parsed(OVERFLOW + others)
    found = _found(module, _named("Again", _without_attribute))
    assert found == {("main", None), ("apart", None)}
    assert left_out == [set(), set()]
