"""Store what is said of each program: `python -m tests.strength [FAMILY ...]`.

Where that is something else than what is stored, what else tells it is asked first, and what is lost is printed.
"""

from __future__ import annotations

import sys

from tests.strength import stored
from tests.strength.claims import Said, lost
from tests.strength.drawn import Case
from tests.strength.programs import FAMILIES, UNUSABLE, cases


def main(families: list[str]) -> None:
    """Verify and write; a contradiction ends it."""
    for family in families or FAMILIES:
        before, found = stored.read(family), {}
        for name, case in cases(family).items():
            said = _verified(case, before.get(name))
            if said is not None:
                found[name] = said
                for claim in lost(before[name].claims, said.claims) if name in before else ():
                    sys.stdout.write(f"{name} - {claim}\n")
        stored.write(family, found)
        claims = sum(len(one.claims) for one in found.values())
        sys.stdout.write(f"{family}: {len(found)} programs, {claims} claims\n")


def _verified(case: Case, before: Said | None) -> Said | None:
    try:
        said = case.said()
        if case.verify is not None and (before is None or not stored.is_same(said, before)):
            case.verify()
    except UNUSABLE:
        return None
    return said


if __name__ == "__main__":
    main(sys.argv[1:])
