"""Scheduled and lowered kernels: a fixed sample; `python -m tests.oracle.tir.scheduled` takes any other."""

from __future__ import annotations

import re
import sys

import pytest

from tests import forking

KERNELS = 20


@pytest.mark.vm
def test_what_is_said_of_scheduled_kernels_is_so() -> None:
    """In a process of its own: some primitives end it, which the search counts."""
    found = forking.run(
        (sys.executable, "-m", "tests.oracle.tir.scheduled", "--kernels", str(KERNELS), "--seed", "11"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    counted = {what: int(number) for number, what in re.findall(r"^ +([0-9,]+)  (.*)$", found.stdout, re.M)}
    assert counted["kernels"] > KERNELS // 2
    assert counted["accesses proved"] > KERNELS
    # A primitive that applies to nothing would make the search worthless.
    assert sum(what.startswith("primitive ") for what in counted) > 12
