"""How a report is to be presented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relax_lint.output.style import Style
from relax_lint.settings.config import Config
from relax_lint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from relax_lint.totals.comparison import Comparison


@dataclass(frozen=True)
class Presentation:
    """What a format may take into account besides the report: colour, the configuration of the run, whether
    to give the findings only, whether to count them by rule instead (`statistics`), whether to add which
    prover decided how much and what was asked about each operation, and what changed since an earlier run.
    """

    style: Style
    config: Config
    quiet: bool = False
    statistics: bool = False
    provers: bool = False
    explain: bool = False
    comparison: Comparison | None = None
