"""Which share of the findings has a fix, by rule, and what applying all of them leaves.

python benchmarks/fixes.py [--generated N]

Judges the examples of the rule pages and N generated programs, applies every fix (the unsafe ones too) and
judges what comes out. `safe` and `unsafe` count findings by their best fix, `shown` those whose remedy is
only told, `gone` the findings that are not there any more.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from relax_lint.results.check import Check
from relax_lint.settings.config import Config, with_options
from tests.fixes.fixing import findings, fixed
from tests.pages.page import examples
from tests.soundness.programs import module, programs

_VALUES = {"true": True, "false": False}
_FUNCTIONS = 20
"""Of one generated module."""


def texts(generated: int) -> list[tuple[str, Config]]:
    """The texts to fix, with the settings they are judged with."""
    found = []
    for example in examples():
        # What cannot be analysed has no fix, and TVM crashes on some of it.
        if not example.planned and not example.name.startswith("RLX90"):
            settings = {key: _VALUES.get(value, [value]) for key, value in example.options}
            found.append((example.text, with_options(Config(), settings)))
    for seed in range(generated // _FUNCTIONS):
        found.append((module(programs(_FUNCTIONS, seed)), Config(select=("RLX1",))))
    return found


def best(check: Check) -> str:
    """What the best fix of a finding is: safe, unsafe, shown or nothing."""
    applicabilities = {fix.applicability if fix.edits else "shown" for fix in check.fixes}
    return next((word for word in ("safe", "unsafe", "shown") if word in applicabilities), "none")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--generated", type=int, default=200)
    options = parser.parse_args()
    kinds: Counter[tuple[str, str]] = Counter()
    gone: Counter[str] = Counter()
    for text, config in texts(options.generated):
        before = findings(text, config)
        kinds.update((check.rule, best(check)) for check in before)
        after = findings(fixed(text, config, unsafe=True).text, config)
        gone += Counter(check.rule for check in before) - Counter(check.rule for check in after)
    print(f"{'rule':8}{'findings':>10}{'safe':>8}{'unsafe':>8}{'shown':>8}{'none':>8}{'gone':>8}")
    rules = sorted({rule for rule, _ in kinds})
    for rule in rules:
        _row(rule, {word: kinds[rule, word] for word in ("safe", "unsafe", "shown", "none")}, gone[rule])
    total = {word: sum(kinds[rule, word] for rule in rules) for word in ("safe", "unsafe", "shown", "none")}
    _row("all", total, gone.total())


def _row(rule: str, number: dict[str, int], gone: int) -> None:
    cells = "".join(f"{number[word]:8}" for word in ("safe", "unsafe", "shown", "none"))
    print(f"{rule:8}{sum(number.values()):10}{cells}{gone:8}")


if __name__ == "__main__":
    main()
