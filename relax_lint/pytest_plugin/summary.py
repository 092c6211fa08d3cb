"""What all tests have: the summary at the end of a run, and the JSON file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

SCHEMA_VERSION = 1

_GIVEN = "(as given)"


class Summary:
    """The records of a run as they come in."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._records: list[dict[str, Any]] = []

    def add(self, record: dict[str, Any]) -> None:
        """Take the record of one test."""
        self._records.append(record)

    @property
    def passes(self) -> dict[str, Counter[str]]:
        """How many findings of each rule each pass introduced; of `(as given)` no pass did."""
        found: dict[str, Counter[str]] = {}
        for record in self._records:
            for finding in record["findings"]:
                by = finding["introduced_by"] or _GIVEN
                found.setdefault(by, Counter())[finding["rule"]] += 1
        return dict(sorted(found.items(), key=lambda item: (-item[1].total(), item[0])))

    def data(self) -> dict[str, Any]:
        """Everything, in the order of the names of the tests."""
        told = [record for record in self._records if _is_told(record)]
        return {
            "version": SCHEMA_VERSION,
            "mode": self._mode,
            "tests": len(self._records),
            "seconds": round(sum(record["seconds"] for record in self._records), 3),
            "passes": {name: dict(sorted(counts.items())) for name, counts in self.passes.items()},
            "records": sorted(told, key=lambda record: str(record["test"])),
        }

    def write(self, path: str) -> None:
        """Write the JSON file."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.data(), file, indent=2)
            file.write("\n")

    def lines(self) -> Iterator[str]:
        """The summary for people."""
        from relax_lint.pytest_plugin.record import lines_of

        told = sorted(filter(_is_told, self._records), key=lambda record: str(record["test"]))
        number = sum(len(record["findings"]) for record in self._records)
        seconds = sum(record["seconds"] for record in self._records)
        yield f"{number} findings in {len(told)} of {len(self._records)} tests; judging took {seconds:.2f} s"
        for name, counts in self.passes.items():
            rules = ", ".join(f"{rule} {count}" for rule, count in sorted(counts.items()))
            yield f"  {name}: {counts.total()} ({rules})"
        for record in told:
            yield str(record["test"])
            for line in lines_of(record):
                yield f"  {line}"


def _is_told(record: dict[str, Any]) -> bool:
    return bool(record["findings"] or record["missing"] or record["failures"])
