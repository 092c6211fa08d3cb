"""What a misspelt word probably means."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` where a known word is near, else nothing. Of words that are equally near that one
    is meant which begins like `word`: `RLX101` for `RLX10l`.
    """
    import difflib

    near = difflib.get_close_matches(word, list(known), n=10, cutoff=0.5)
    if not near:
        return ""
    best = difflib.SequenceMatcher(None, near[0], word).ratio()
    alike = [one for one in near if difflib.SequenceMatcher(None, one, word).ratio() == best]
    return f"; did you mean `{max(alike, key=lambda one: _common_start(one, word))}`?"


def _common_start(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
