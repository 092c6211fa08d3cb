"""Store what is said of each program, after what else tells it has agreed: `python -m tests.strength [FAMILY ...]`."""

from __future__ import annotations

import sys

from tests.strength import stored
from tests.strength.claims import Said
from tests.strength.programs import FAMILIES, UNUSABLE, Case, cases


def main(families: list[str]) -> None:
    """Verify and write; a contradiction ends it."""
    for family in families or FAMILIES:
        found = {name: said for name, case in cases(family).items() if (said := _verified(case)) is not None}
        stored.write(family, found)
        claims = sum(len(one.claims) for one in found.values())
        sys.stdout.write(f"{family}: {len(found)} programs, {claims} claims\n")


def _verified(case: Case) -> Said | None:
    try:
        said = case.said()
        case.verify()
    except UNUSABLE:
        return None
    return said


if __name__ == "__main__":
    main(sys.argv[1:])
