"""What is read from random kernel bodies holds in an interpreter and on the compiled kernel.

`python -m tests.oracle.kernels` does the same for as long as it is told to.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
import tvm

from tests.forking import Forked
from tests.oracle.as_often import assert_as_often
from tests.oracle.kernels import richer
from tests.oracle.kernels.bodies import some
from tests.oracle.kernels.compare import Unusable, compare, compare_machine
from tests.oracle.kernels.reads import compare_reads
from tests.oracle.kernels.regressions import FOUND

NOT_BUILT_BEFORE_0_27 = {
    "an element initialised for the first step only",
    "what one step of a reduction initialises, and two do not",
}


def test_what_is_read_from_a_body_holds_in_every_run() -> None:
    seen: Counter[str] = Counter()
    for body in some(90, 1):
        try:
            seen += compare(body)
        except Unusable:
            seen["not taken"] += 1
    least = {
        "elementwise": 120,
        "copies": 30,
        "y is whole": 368,
        "y is not read": 745,
        "y is not written": 270,
        "y is read first": 256,
        "x is not written": 2070,
        "all of y is stored": 550,
        "RLX306 inside": 1276,
        "RLX306 outside": 698,
        "right on one memory": 528,
        "differs": 29,
        "does not differ": 190,
    }
    assert_as_often(seen, least)
    assert seen["not taken"] < 60


def test_what_is_said_to_be_read_matters() -> None:
    seen: Counter[str] = Counter()
    for body in chain(some(40, 3), richer.some(40, 3)):
        try:
            seen += compare_reads(body)
        except Unusable:
            seen["not taken"] += 1
    assert seen["not taken"] < 40
    assert min(seen["read for sure"], seen["not read"]) > 60


@pytest.mark.vm
def test_what_is_read_from_a_body_holds_on_the_machine() -> None:
    seen: Counter[str] = Counter()
    for body in some(25, 2):
        try:
            seen += compare_machine(body)
        except Unusable:
            seen["not taken"] += 1
    assert seen["runs on the machine"] > 10


@pytest.mark.vm
@pytest.mark.parametrize("name", FOUND)
def test_what_was_once_wrong_stays_right(name: str) -> None:
    assert compare(FOUND[name]) + compare_reads(FOUND[name])
    if name in NOT_BUILT_BEFORE_0_27 and tvm.__version__.startswith("0.26"):
        pytest.skip("TVM 0.26 cannot build a block whose axes and loops are of different dtypes")
    compare_machine(FOUND[name])


def test_a_search_that_is_ended_says_how_far_it_came() -> None:
    with Forked(
        [sys.executable, "-m", "tests.oracle.kernels", "--seed", "1"],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as search:
        assert search.stderr is not None
        while "searching" not in search.stderr.readline():
            assert search.poll() is None
        search.terminate()
        said, _ = search.communicate(timeout=120)
    assert "ended by SIGTERM" in said
