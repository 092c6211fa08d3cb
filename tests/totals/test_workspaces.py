"""What kernels request from the workspace pool and what it obtains, predicted and measured byte for byte."""

from __future__ import annotations

from typing import Any

import pytest

from tests.totals import interposer


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the subprocess reports, over the whole corpus."""
    return interposer.run(tmp_path_factory.mktemp("meter"), "tests.totals.measuring_workspaces")


@pytest.mark.vm
@pytest.mark.skipif(not interposer.AVAILABLE, reason="needs gcc and LD_PRELOAD")
class TestMeasured:
    """Each row: asked for by one kernel, obtained by the pool, and the pool together with the allocator."""

    def test_at_a_binding_the_prediction_is_what_happened(self, rows: list[dict[str, Any]]) -> None:
        assert [row for row in rows if row["predicted"] != row["measured"]] == []
        assert len(rows) >= 76
        assert len({row["case"] for row in rows if row["measured"][1]}) >= 12

    def test_so_do_the_formulas_wherever_there_is_one(self, rows: list[dict[str, Any]]) -> None:
        known = [
            (row, real, formula)
            for row in rows
            for real, formula in zip(row["measured"], row["formulas"], strict=True)
            if isinstance(formula, int)
        ]
        assert [row for row, real, formula in known if real != formula] == []
        assert len(known) >= 210
