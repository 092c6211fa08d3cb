"""What the rules say that are off unless they are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from relax_lint.judging.report import check_module
from relax_lint.replay.modules import load_module
from relax_lint.results.verdict import Severity
from relax_lint.settings.config import Config
from tests.metamorphic.programs import programs, read
from tests.strength.claims import Said, of_check
from tests.strength.collected import texts
from tests.strength.words import name_of, words_of

CODES = ("RLX207", "RLX305", "RLX313", "RLX506", "RLX507", "RLX602")


class NothingSaid(Exception):
    """None of these rules looks at anything in a program."""


def said_of_optional(make: Callable[[], Any]) -> Said:
    """Every verdict of these rules."""
    module = make()
    if module is None:
        raise NothingSaid
    judged = check_module(module, Config(select=CODES, proofs=True))
    if not judged.checks:
        raise NothingSaid
    claims = [claim for check in judged.checks for claim in [*of_check(check)] * check.count]
    reported = (name_of(check) for check in judged.checks if check.severity is not Severity.NONE)
    return Said(tuple(claims), tuple(reported), tuple(words_of(judged)))


def optional() -> Iterator[tuple[str, Callable[[], Said]]]:
    """The programs that other tests judge, and those of the pages."""
    for name, text in texts("modules"):
        yield name, partial(said_of_optional, partial(load_module, text, "script"))
    for program in programs():
        if not program.name.startswith("random"):
            yield f"written {program.name}", partial(said_of_optional, partial(read, program))
