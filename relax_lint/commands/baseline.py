"""`check --write-baseline` and `check --update-baseline`."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from relax_lint.commands.judging import judge
from relax_lint.commands.terminal import UsageError, tell
from relax_lint.output.tables import count
from relax_lint.results.report import Report
from relax_lint.settings.config import Config
from relax_lint.suppressions.baseline import Entry, entries_of, read_baseline, write_baseline
from relax_lint.suppressions.policy import stale_entries, with_baseline, with_notes_on_accepted_blocks


def run_with_new_baseline(options: argparse.Namespace, config: Config) -> Report:
    """Write the baseline; the report as it is with it. What the run says nothing of is kept: files that were
    not named, rules that were off. Raises UsageError and BaselineError.
    """
    path = config.baseline
    if path is None:
        option = "--write-baseline" if options.write_baseline else "--update-baseline"
        raise UsageError(f"`{option}` needs `--baseline FILE`, or `baseline` in the configuration")
    known: tuple[Entry, ...] = ()
    if options.update_baseline or os.path.exists(path):
        known = read_baseline(path)
    report = judge(options, replace(config, baseline=None))
    gone = set(stale_entries(report, known, config))
    kept = [entry for entry in known if entry not in gone]
    found: tuple[Entry, ...] = ()
    if options.write_baseline:
        found = entries_of(report, os.path.dirname(path))
        again = {entry.id for entry in found}
        kept = [entry for entry in kept if entry.id not in again]
    write_baseline(path, (*kept, *found))
    if not options.quiet:
        accepted = count(len(kept) + len(found), "finding")
        tell(f"{path}: {accepted} accepted, {len(gone)} removed")
    return with_notes_on_accepted_blocks(with_baseline(report, config))
