"""Remedies in words, as `help:` lines with the code to write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from relax_lint.fixes.changes import Change, InsertAssert, Remedy, ResizeStorage
from relax_lint.fixes.text.tvmscript import ALLOC_STORAGE, check_call, script_expr


def help_lines(remedies: Iterable[Remedy]) -> tuple[str, ...]:
    """What to write, one line for each change; changes that need no code by the title of their remedy."""
    return tuple(dict.fromkeys(line for remedy in remedies for line in _lines(remedy)))


def _lines(remedy: Remedy) -> Iterator[str]:
    for change in remedy.changes:
        yield _line(remedy, change)


def _line(remedy: Remedy, change: Change) -> str:
    if isinstance(change, InsertAssert):
        call = check_call(change)
        return f"check it where the symbols are known, in a function with `pure=False`: `{call}`"
    if isinstance(change, ResizeStorage):
        storage = change.storage
        unit = "bytes" if storage.size_in_bytes else f"elements of {storage.dtype.name}"
        call = f"R.{ALLOC_STORAGE[storage.level]}(R.shape([{script_expr(change.extent)}]), ...)"
        return f"{remedy.title}: `{call}` ({unit})"
    return remedy.title
