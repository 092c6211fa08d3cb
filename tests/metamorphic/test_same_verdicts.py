"""A program that is written in another way gets the same verdicts and safe regions.

`python -m tests.metamorphic` does the same with random programs for as long as it is told to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import tvm

from tests.metamorphic.changes import Changed
from tests.metamorphic.comparing import OF_MODULE, OF_TEXT, Unprintable, before, of_module, of_text
from tests.metamorphic.judging import Saying
from tests.metamorphic.programs import Text, names, programs, read

READ_BY = "0.27."
"""The release of TVM that reads all of them."""
_of_programs = pytest.mark.parametrize("name", tuple(names()))


def before_forks() -> None:
    """What is read with a fault in the engine is not what was read without."""
    read.cache_clear()


@cache
def _programs() -> dict[str, Text]:
    """By name; they are made and read when a test asks for them."""
    return {program.name: program for program in programs()}


def _program(name: str) -> Text:
    program = _programs()[name]
    if read(program) is None and not tvm.__version__.startswith(READ_BY):
        pytest.skip("this release of TVM does not read it")
    return program


@_of_programs
@pytest.mark.parametrize("change", OF_TEXT, ids=lambda change: change.__name__)
def test_another_text(change: Callable[[str], Changed], name: str) -> None:
    assert of_text(_program(name), change) == ""


@_of_programs
@pytest.mark.parametrize("change", OF_MODULE, ids=lambda change: change.__name__)
def test_another_module(change: Callable[[Any], Any], name: str) -> None:
    try:
        assert of_module(_program(name), change) == ""
    except Unprintable as error:
        pytest.skip(f"TVM does not read what it prints: {error}")


def test_the_programs_are_there() -> None:
    found = _programs()
    assert list(found) == list(names())
    readable = [program for program in found.values() if read(program) is not None]
    assert len(readable) > 80
    assert len(readable) == len(found) or not tvm.__version__.startswith(READ_BY)
    said = sum((before(program) for program in readable), Counter[Saying]())
    assert {saying[3] for saying in said} == {"always-fine", "always-wrong", "needs-runtime-check"}
