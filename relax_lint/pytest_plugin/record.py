"""What was found in one test, and what its markers say of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relax_lint.api import as_severity
from relax_lint.support.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from relax_lint.instrument import PassFinding
    from relax_lint.pytest_plugin.contexts import Found


@dataclass(frozen=True)
class TestRecord:
    """The findings of one test as plain data; `missing` are the codes that it expects and does not have."""

    test: str
    findings: tuple[Mapping[str, Any], ...]
    missing: tuple[str, ...]
    failures: tuple[str, ...]
    seconds: float
    fails: bool

    # pytest collects classes of that name.
    __test__ = False

    @staticmethod
    def of(
        test: str, found: Found, *, expected: Sequence[str], fail_on: str, only_introduced: bool
    ) -> TestRecord:
        """The record of a test. `expected` are codes or prefixes of codes; a finding of the severity
        `fail_on` or above that is not expected fails the test, as does a code that is missing. Raises
        ValueError.
        """
        least = as_severity(fail_on).rank
        kept = [f for f in found.findings if f.introduced_by is not None or not only_introduced]
        findings = list({str(data): data for data in (_data(f, expected) for f in kept)}.values())
        seen = [str(data["rule"]) for data in findings]
        missing = tuple(code for code in expected if not any(rule.startswith(code) for rule in seen))
        grave = [f for f in kept if f.check.severity.rank >= least and not _is_expected(f, expected)]
        return TestRecord(
            test,
            tuple(findings),
            missing,
            tuple(dict.fromkeys(found.failures)),
            found.seconds,
            bool(grave or missing),
        )

    def data(self, outcome: str) -> dict[str, Any]:
        """The record as the JSON file holds it."""
        return {
            "test": self.test,
            "outcome": outcome,
            "findings": [dict(finding) for finding in self.findings],
            "missing": list(self.missing),
            "failures": list(self.failures),
            "seconds": round(self.seconds, 6),
        }

    @property
    def text(self) -> str:
        """The record for people, a line for each thing; empty where there is nothing."""
        return "\n".join(lines_of(self.data("")))


def lines_of(data: Mapping[str, Any]) -> Iterable[str]:
    """The findings of one record for people."""
    for finding in data["findings"]:
        by = finding["introduced_by"]
        origin = "in the module as it was given" if by is None else f"introduced by `{by}`"
        words = [origin]
        words += [] if finding["present"] else ["gone later"]
        words += ["expected"] if finding["expected"] else []
        where = f"`{finding['function']}`" if finding["function"] else "the module"
        yield (
            f"{finding['severity']}[{finding['rule']}] in {where}: {finding['message']} ({', '.join(words)})"
        )
    for code in data["missing"]:
        yield f"error: no finding {code}, which the test expects"
    for failure in data["failures"]:
        yield f"warning: {failure}"


def _data(found: PassFinding, expected: Sequence[str]) -> dict[str, Any]:
    check = found.check
    return {
        "rule": check.rule,
        "name": check.name,
        "verdict": check.verdict.value,
        "severity": check.severity.value,
        "message": check.message,
        "function": check.function,
        "binding": check.binding,
        "safe_when": check.safe_when,
        "introduced_by": found.introduced_by,
        "present": found.present,
        "expected": _is_expected(found, expected),
    }


def _is_expected(found: PassFinding, expected: Sequence[str]) -> bool:
    return found.check.rule.startswith(tuple(expected)) if expected else False
