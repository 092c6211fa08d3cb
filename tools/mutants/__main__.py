"""Put faults into the engine, one by one, and see whether the tests notice.

python -m tools.mutants [FILE or FOLDER ...] [--sample N] [--seed N] [--minutes M]
        [--tests PATH ...] [--log FILE] [--jobs N]

Without `--tests` the tests that run a mutant's line are taken, from a record that is made when it is
missing or when tests have changed. The exit code is 1 where a mutant survived that `explained.toml`
does not explain.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tools.mutants import running
from tools.mutants.explained import reasons
from tools.mutants.generating import PACKAGES, ROOT, Key, Mutant, mutants, python_files
from tools.mutants.recording import record
from tools.mutants.report import Log, survivors, tell
from tools.mutants.running import ILL_TYPED, KILLED, UNTESTED, Outcome, Trial
from tools.mutants.tests_of import Record, digest, test_files, usefulness
from tools.mutants.typed import complaint

KEPT = ROOT / "build" / "mutants" / "record.json"
IMPORTED_TESTS = 500
"""How many tests at most are tried on a mutant that counts when its module is imported."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Choose, run, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", default=PACKAGES)
    parser.add_argument("--sample", type=int, metavar="N", help="that many of the mutants, instead of all")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin none after that")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="these tests for every mutant")
    parser.add_argument(
        "--record", nargs="*", metavar="PATH", help="record no other tests anew; none where no path is given"
    )
    parser.add_argument(
        "--log", type=Path, help="append every outcome as a line of JSON; what it holds is not run again"
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="that many at a time")
    parser.add_argument(
        "--repeat", type=Path, metavar="FILE", help="what a log says was killed, by the same tests"
    )
    options = parser.parse_args(arguments)
    if options.repeat is not None:
        return repeat(options.repeat)
    chosen = sampled(
        [mutant for path in python_files(options.files) for mutant in mutants(path)],
        options.sample,
        options.seed,
    )
    known = reasons(mutant.key for mutant in chosen)
    with tempfile.TemporaryDirectory() as folder:
        log = Log(options.log or Path(folder, "log.jsonl"))
        left = [mutant for mutant in chosen if mutant.key not in known and mutant.key not in log.found]
        # Where the time ends before the mutants do, those that were run are a sample too.
        left.sort(key=lambda mutant: mutant.key.rank(options.seed))
        seen = recorded(folder, options.tests, options.jobs, options.record)
        _try(left, seen, folder, log, time.monotonic() + options.minutes * 60, options.jobs)
        _check_types(survivors(log, chosen, known), log, Path(folder))
        return tell(log, chosen, known)


def repeat(log: Path) -> int:
    """Whether each test of a log still notices its mutant; the mutants are all in functions. Some may be gone
    with the code that they were in.
    """
    wanted = Log(log).found
    files = sorted({key.file for key in wanted})
    found = {mutant.key: mutant for path in python_files(files) for mutant in mutants(path)}
    trials = [
        Trial(found[key], (outcome.test,), {outcome.test: 1.0})
        for key, outcome in wanted.items()
        if key in found
    ]
    killed: set[Key] = set()
    with tempfile.TemporaryDirectory() as folder:
        running.run(
            trials,
            (),
            str(Path(folder, "tests")),
            lambda outcome: killed.add(outcome.key) if outcome.status == KILLED else None,
            float("inf"),
        )
    for key, outcome in wanted.items():
        if key not in killed:
            why = "it survives" if key in found else "the code has changed"
            sys.stdout.write(f"{why}: {key}, {outcome.test}\n")
    gone = len(wanted) - len(trials)
    sys.stdout.write(f"{len(killed)} killed, {len(trials) - len(killed)} survived, {gone} gone\n")
    return int(len(killed) < len(trials) or gone > len(wanted) // 3)


def sampled(found: Sequence[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """Some of the mutants, always the same for a seed, whatever else is mutated."""
    if count is None:
        return list(found)
    taken = {mutant.key for mutant in sorted(found, key=lambda mutant: mutant.key.rank(seed))[:count]}
    return [mutant for mutant in found if mutant.key in taken]


def recorded(
    folder: str, tests: Sequence[str] | None, jobs: int, only: Sequence[str] | None = None
) -> Record:
    """What the tests run, up to date, or as far as that concerns some. A fork records it: this process must
    not import what is mutated.
    """
    kept = Record.read(KEPT) if tests is None else Record()
    stale = (
        kept.stale_tests()
        if tests is None
        else [path.relative_to(ROOT).as_posix() for path in test_files(tests)]
    )
    if only is not None:
        stale = [name for name in stale if name.startswith(tuple(only))]
    kept = kept.without(stale)
    running.preload()
    path = KEPT if tests is None else Path(folder, "record.json")
    names = sorted((name for name in stale if (ROOT / name).exists()), key=usefulness)
    if not _in_fork(partial(_record, kept, names, folder, path, jobs)):
        raise RuntimeError("the tests could not be recorded")
    return Record.read(path)


def _record(kept: Record, names: Sequence[str], folder: str, path: Path, jobs: int) -> None:
    """Write the record after each file of tests: whoever ends this goes on from here."""
    kept.write(path)

    def add(name: str, found: Record | None) -> None:
        if found is None:
            sys.stderr.write(f"the tests of {name} end the process that records them: they are not used\n")
        for test in found.failed if found is not None else ():
            sys.stderr.write(f"{test} fails where it is recorded: it is not used\n")
        kept.add(found or Record(test_files={name: digest(ROOT / name)}))
        kept.write(path)

    if names:
        record(names, folder, add, jobs)


def _in_fork(work: Callable[[], None]) -> bool:
    """Whether it came to its end."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    try:
        work()
        os._exit(0)
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(1)


def _try(left: Sequence[Mutant], seen: Record, folder: str, log: Log, end: float, jobs: int) -> None:
    quick: list[Trial] = []
    imported: list[Trial] = []
    for mutant in left:
        is_imported = seen.is_imported(mutant)
        tests = seen.chosen(mutant)[: IMPORTED_TESTS if is_imported else None]
        if not tests:
            log.add(Outcome(mutant.key, UNTESTED))
            continue
        (imported if is_imported else quick).append(Trial(mutant, tests, seen.time_of(tests)))
    running.run(quick, imported, str(Path(folder, "tests")), log.add, end, jobs)
    log.read()


def _check_types(left: Sequence[Mutant], log: Log, folder: Path) -> None:
    """Ask the type checker about what no test notices."""
    os.chdir(ROOT)
    for mutant in left:
        said = complaint(mutant, folder)
        if said:
            log.add(Outcome(mutant.key, ILL_TYPED, said))


if __name__ == "__main__":
    sys.exit(main())
