"""How much work the model of a planned module takes: Python's calls, which other load does not change."""

import sys
from types import FrameType
from typing import Any

import pytest

from relax_lint.model.builder import build_program
from relax_lint.vm import versions
from tests.programs.transformer import lowered

CALLS_FOR_A_BINDING = 60
"""There were 80 before what many bindings have in common was read once, and 56 after."""


def _calls(module: Any) -> int:
    number = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    build_program(module)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        build_program(module)
    finally:
        sys.setprofile(before)
    return number


def _bindings(module: Any) -> int:
    return sum(len(function.body.ops) for function in build_program(module).functions)


@pytest.fixture(scope="module")
def modules() -> tuple[Any, Any]:
    return lowered(1, bounded=True, stage="killed"), lowered(3, bounded=True, stage="killed")


def test_a_further_binding_takes_few_calls(modules: tuple[Any, Any]) -> None:
    small, large = modules
    more = _bindings(large) - _bindings(small)
    assert more > 50
    assert _calls(large) - _calls(small) < CALLS_FOR_A_BINDING * more


def test_few_arrays_are_read_for_a_further_binding(
    modules: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []
    items = versions.items

    def noted(array: Any) -> list[Any]:
        read.append(array)
        return items(array)

    small, large = modules
    more = _bindings(large) - _bindings(small)
    monkeypatch.setattr(versions, "items", noted)
    build_program(small)
    few = len(read)
    build_program(large)
    # The arguments of each call, and a shape for each allocation.
    assert len(read) - 2 * few < 2 * more


def test_an_array_is_a_list_of_its_elements() -> None:
    array = lowered(1, bounded=True, stage="killed")["forward"].params
    assert [versions.identity(one) for one in versions.items(array)] == [
        versions.identity(one) for one in array
    ]
