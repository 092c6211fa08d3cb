"""The folder of proof records that `check --proofs` writes. Imports neither TVM nor sympy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from relax_lint import __version__
from relax_lint.output.explained import claim_text
from relax_lint.results.check import Check, ProofRecord
from relax_lint.results.identity import identities
from relax_lint.results.report import Report
from relax_lint.support.escaping import printable, printable_lines, without_commands


def write_proofs(report: Report, folder: str) -> Report:
    """Write the record of each certain verdict into `folder`, named by the check's identity; the report with
    the names of the files. Raises OSError.
    """
    os.makedirs(folder, exist_ok=True)
    names = iter(identities(report.checks))
    files = []
    for file in report.files:
        checks = tuple(_written(check, next(names), folder) for check in file.checks)
        files.append(replace(file, checks=checks))
    return replace(report, files=tuple(files))


def _written(check: Check, identity: str, folder: str) -> Check:
    record = check.proof_record
    if record is None:
        return check
    path = os.path.join(folder, f"{identity}.{'smt2' if record.checkable else 'txt'}")
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(_text(check, record))
    return replace(check, proof_record=replace(record, file=path))


def _text(check: Check, record: ProofRecord) -> str:
    head = "".join(_head(check, record))
    if not record.checkable:
        return without_commands(head + "\n".join(printable_lines(record.text)))
    # What is no comment is for a solver; the prover writes only names that can be shown.
    lines = record.text.split("\n")
    return head + "\n".join(printable(line) if line.startswith(";") else line for line in lines)


def _head(check: Check, record: ProofRecord) -> Iterator[str]:
    mark = "; " if record.checkable else ""
    where = "" if check.location is None else check.location.in_words
    names = ".".join(name for name in (check.module, check.function) if name)
    binding = "" if check.binding is None else f", `{check.binding}` (binding {check.binding_index})"
    lines = [
        f"relax-lint {__version__}: {check.rule} {check.name}, {check.verdict.value}",
        f"{check.path}{where}, {names}{binding}",
        check.message,
        f"decided by {check.prover.value}: {check.proof}",
        *(f"asked: {claim_text(claim)}" for claim in record.claims),
        *(f"assumes {text}" for text in check.assumes),
    ]
    if record.checkable:
        lines.append("proved if every answer is unsat")
        if check.wrong is not None:
            values = ", ".join(f"{name} = {value}" for name, value in check.wrong.items())
            lines.append(f"the operation is reached, for example at {values or 'every input'}")
    for line in lines:
        yield f"{mark}{printable(' '.join(line.split()))}\n"
