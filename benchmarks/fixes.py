"""Which share of the findings has a fix, by rule, and what applying all of them leaves.

python -m benchmarks.fixes [--generated N]

Judges the examples of the rule pages and N generated programs, applies every fix (the unsafe ones too) and
judges what comes out. `safe` and `unsafe` count findings by their best fix, `shown` those whose remedy is
only told, `gone` the findings that are not there any more.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from benchmarks.common import counts, options
from relax_lint.results.check import Check
from relax_lint.settings.config import Config, with_options
from tests.fixes.fixing import findings, fixed
from tests.pages.page import examples
from tests.soundness.programs import module, programs

WORDS = ("findings", "safe", "unsafe", "shown", "none", "gone")
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
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for text, config in texts(options(__doc__, generated=200).generated):
        before = findings(text, config)
        for check in before:
            found[check.rule].update(("findings", best(check)))
        after = findings(fixed(text, config, unsafe=True).text, config)
        for rule, count in (Counter(c.rule for c in before) - Counter(c.rule for c in after)).items():
            found[rule]["gone"] += count
    print(counts("rule", WORDS, dict(sorted(found.items()))))


if __name__ == "__main__":
    main()
