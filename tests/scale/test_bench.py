"""The speed guard and the page of figures, without measuring anything."""

from __future__ import annotations

import json

import pytest

from benchmarks import bench, figures
from benchmarks.bench_rows import PARTS, Row
from benchmarks.effort import COUNTS_INSTRUCTIONS, effort
from benchmarks.growth_programs import PROGRAMS

RECORDED = {"ratios": {"reading": 0.5, "waiting": 1.0}, "exponents": {"casts": 2.0, "kills": 1.0}}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (Row("reading", 0.5 * bench.MARGIN - 0.01), []),
        (Row("reading", 0.5 * bench.MARGIN + 0.01), ["reading"]),
        (Row("waiting", 9.0, guarded=False), []),
        (Row("new", 9.0), []),
    ],
)
def test_a_ratio_may_not_pass_what_is_recorded(row: Row, told: list[str]) -> None:
    assert [line.partition(":")[0] for line in bench.too_slow([row], {}, RECORDED)] == told


@pytest.mark.parametrize(
    ("direction", "exponent", "slow"),
    [
        ("casts", 2.19, False),
        ("casts", 2.21, True),
        ("kills", 1.19, False),
        ("kills", 1.21, True),
        ("new", 1.3, True),
    ],
)
def test_growth_has_one_limit_but_for_what_is_known(direction: str, exponent: float, slow: bool) -> None:
    assert bool(bench.too_slow([], {direction: exponent}, RECORDED)) is slow


def test_what_is_recorded_is_what_is_measured() -> None:
    recorded = json.loads(bench.RECORDED.read_text(encoding="utf-8"))
    assert recorded["exponents"].keys() == PROGRAMS.keys()
    assert len(PROGRAMS) >= 25
    assert bench.EXPONENTS not in PARTS


@pytest.mark.skipif(not COUNTS_INSTRUCTIONS, reason="instructions cannot be counted here")
def test_twice_the_work_is_about_twice_the_instructions() -> None:
    once, twice = (effort(lambda times=times: sum(range(times)), 3) for times in (100_000, 200_000))  # type: ignore[misc]
    assert 1.8 < twice / once < 2.2


def test_the_page_of_figures_is_read_as_it_was_written() -> None:
    text = figures.PAGE.read_text(encoding="utf-8")
    kept = figures.published(text)
    assert len(kept) > 8
    assert figures.page(kept) == text
