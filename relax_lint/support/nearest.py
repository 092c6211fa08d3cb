"""What a misspelt word probably means."""

from __future__ import annotations

from collections.abc import Iterable

# Characters that are taken for each other, in lower case.
_ALIKE = str.maketrans("olisz|", "011521")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` where a known word is near, else nothing. What looks the same is nearest:
    `RLX101` for `RLX10l`. Of words that are equally near that one is meant which begins like `word`, then
    the first in the order of the alphabet.
    """
    import difflib

    words = sorted(known)
    if (same := next((one for one in words if _looks(one) == _looks(word)), None)) is not None:
        return _question(same)
    near = difflib.get_close_matches(word, words, n=10, cutoff=0.5)
    if not near:
        return ""
    best = difflib.SequenceMatcher(None, near[0], word).ratio()
    alike = [one for one in near if difflib.SequenceMatcher(None, one, word).ratio() == best]
    return _question(min(alike, key=lambda one: (-_common_start(one, word), one)))


def _question(word: str) -> str:
    return f"; did you mean `{word}`?"


def _looks(word: str) -> str:
    return word.lower().translate(_ALIKE)


def _common_start(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
