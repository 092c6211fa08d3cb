"""The lists of long tests, and of what is left to `make slow`, name tests that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ONE_IN, REST

TESTS = Path(__file__).parent
ENTRIES = [line for line in (TESTS / "long.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"]


@pytest.mark.parametrize("entry", [*ENTRIES, *sorted({*ONE_IN, *REST})])
def test_an_entry_is_a_test(entry: str) -> None:
    file, _, function = entry.partition("[")[0].partition("::")
    text = (TESTS / file).read_text(encoding="utf-8")
    assert f"def {function}(" in text if function else "def test_" in text
