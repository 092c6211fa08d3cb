"""The image classifiers of `tests/programs/vision.py`: parameters as published, predicted as measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.totals import interposer

pytestmark = pytest.mark.models

NAMES = ("alexnet", "mobilenet_v3_small", "resnet50", "resnet101", "vgg16")


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_buffers_have_the_published_size(name: str) -> None:
    from tests.programs import vision

    size = vision.parameter_bytes(vision.MODELS[name]())
    assert size / 2**20 == pytest.approx(vision.PUBLISHED_MIB[name], abs=5e-7)


def check(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        assert row["predicted"] == row["formula"] == row["measured"]
        assert row["predicted again"] == row["formula again"] == row["measured again"]
        # The most that any plan could save.
        assert row["lower bound"] <= row["measured"]


@pytest.mark.vm
@pytest.mark.skipif(not interposer.AVAILABLE, reason="needs gcc and LD_PRELOAD")
def test_the_smallest_needs_what_is_predicted_for_any_number_of_images(tmp_path: Path) -> None:
    rows = interposer.measured(tmp_path, "tests.totals.corpus_mobilenet", "bytecode")
    assert len(rows) == 3 * 2
    check(rows)


@pytest.mark.slow
@pytest.mark.vm
@pytest.mark.skipif(not interposer.AVAILABLE, reason="needs gcc and LD_PRELOAD")
def test_each_needs_what_is_predicted(tmp_path: Path) -> None:
    rows = interposer.measured(tmp_path, "tests.totals.corpus_vision", "bytecode")
    assert {row["case"] for row in rows} >= set(NAMES)
    check(rows)
