"""A machine that sees what is accessed behind the end of a storage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relax_lint.replay import GuardUnavailableError, Machine


def guarded_machine() -> Iterator[Machine]:
    """What a fixture gives a test; the test is skipped where nothing can be guarded. What a run has damaged may
    stay damaged: a test that damages something needs one of its own.
    """
    try:
        machine = Machine(guarded=True)
    except GuardUnavailableError as reason:
        pytest.skip(str(reason))
    with machine:
        yield machine
