"""Write docs/facts.md: every kind of fact, who enforces it, and the tests that violate it.

python -m tools.fact_table

`make facts` runs it; a test compares the page with what it would write, and looks for the tests.
"""

from __future__ import annotations

from pathlib import Path

from relax_lint.vm.facts import FactKind, FactSource
from tests.soundness.fact_cases import BY_OTHERS, CASES

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "facts.md"
TESTS = "tests/soundness/test_facts.py"

_HEAD = """# The facts that proofs use

<!-- Written by `make facts` from relax_lint/vm/facts.py and tests/soundness/fact_cases.py. -->

A verdict is about all inputs that can reach an operation. What is known of them is a set of facts, and each
fact is of one of the kinds below. *Enforced* facts hold because something stops every run that violates them
before the operation; *global* ones are stated once for all; *assumed* ones are believed, and a verdict that
needs one lists it.

For each kind there are tests that violate it: they call the virtual machine with an argument that breaks the
fact. What is enforced must be refused by the check that the table names, and what is assumed is let through.
Each of these runs as bytecode and compiled.

"""

_MEANING = {
    FactKind.ENFORCED: "Enforced",
    FactKind.GLOBAL: "Global",
    FactKind.ASSUMED: "Assumed",
}


def page() -> str:
    """The text of the page."""
    parts = [_HEAD]
    for kind, title in _MEANING.items():
        rows = [source for source in FactSource if source.kind is kind]
        parts.append(
            f"## {title}\n\n| fact | who enforces it | holds from | violated by |\n|---|---|---|---|\n"
        )
        parts += [
            f"| {row.value.says} | {row.value.by} | {row.value.since} | {_violated_by(row)} |\n"
            for row in rows
        ]
        parts.append("\n")
    parts.append(
        f"The tests are in `{TESTS}`. In square brackets stands the case of `test_a_fact_is_violated`.\n"
    )
    return "".join(parts)


def violations_of(source: FactSource) -> list[str]:
    """The tests that violate a kind of fact, as pytest names them."""
    cases = [
        f"test_a_fact_is_violated[{source.name.lower()}: {case.name}]"
        for case in CASES
        if case.source is source
    ]
    return cases + ([BY_OTHERS[source]] if source in BY_OTHERS else [])


def _violated_by(source: FactSource) -> str:
    names = [name.removeprefix("test_a_fact_is_violated") for name in violations_of(source)]
    return ", ".join(f"`{name}`" for name in names)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
