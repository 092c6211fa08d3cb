"""A program that is written in another way gets the same verdicts and safe regions.

`python -m tests.metamorphic` does the same with random programs for as long as it is told to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.metamorphic.changes import Changed
from tests.metamorphic.comparing import OF_MODULE, OF_TEXT, Unprintable, before, of_module, of_text
from tests.metamorphic.judging import Saying
from tests.metamorphic.programs import Text, programs, read

PROGRAMS = tuple(program for program in programs() if read(program) is not None)
_of_programs = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


def before_forks() -> None:
    """What is read with a fault in the engine is not what was read without."""
    read.cache_clear()


@_of_programs
@pytest.mark.parametrize("change", OF_TEXT, ids=lambda change: change.__name__)
def test_another_text(change: Callable[[str], Changed], program: Text) -> None:
    assert of_text(program, change) == ""


@_of_programs
@pytest.mark.parametrize("change", OF_MODULE, ids=lambda change: change.__name__)
def test_another_module(change: Callable[[Any], Any], program: Text) -> None:
    try:
        assert of_module(program, change) == ""
    except Unprintable as error:
        pytest.skip(f"TVM does not read what it prints: {error}")


def test_the_programs_are_there() -> None:
    assert len(PROGRAMS) > 80
    said = sum((before(program) for program in PROGRAMS), Counter[Saying]())
    assert {saying[3] for saying in said} == {"always-fine", "always-wrong", "needs-runtime-check"}
