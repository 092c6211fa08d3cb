from __future__ import annotations

from collections.abc import Iterator

import pytest

from relax_lint.replay import Machine, Module

from .page import Example, examples


@pytest.fixture(scope="session")
def machine() -> Iterator[Machine]:
    with Machine() as machine:
        yield machine


@pytest.mark.vm
@pytest.mark.parametrize(
    "example", [example for example in examples() if example.runs], ids=lambda example: example.name
)
def test_the_virtual_machine_does_what_the_page_says(example: Example, machine: Machine) -> None:
    module = Module(example.text)
    for run in example.runs:
        for allocator in run.allocators:
            result = machine.run(
                module, run.function, run.inputs, allocator=allocator, exec_mode=run.exec_mode
            )
            assert run.agrees_with(result), (run, allocator, result)
