"""Many wildcard patterns against one name at a time, in time that no pattern can make explode.

All patterns of one file are one automaton without backtracking. A set of its states is one integer, a bit for
each state, so that a byte of a name costs a handful of operations on integers, whatever the patterns say.
What a pattern means is what it means to git, down to `foo**/bar`, where the two stars count as if they stood
at the start: git compares the text before the first wildcard by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

_SLASH = ord("/")
_STAR_BYTE, _QUESTION, _OPEN, _CLOSE, _ESCAPE = b"*?[]\\"
_DASH = ord("-")
SPECIAL = frozenset(b"*?[\\")
"""The bytes with which a pattern is more than a name."""

_ALL = (1 << 256) - 1
_NO_SLASH = _ALL & ~(1 << _SLASH)

# What consumes no byte of a certain set. `_ENTRY` is where `**/` begins and may also match nothing.
_STAR, _ANY, _ENTRY = -1, -2, -3
_ANY_FOLDERS = [_ENTRY, _ANY, 1 << _SLASH]

_CLASSES: Mapping[bytes, bytes] = {
    b"alnum": b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    b"alpha": b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"blank": b" \t",
    b"cntrl": bytes((*range(32), 127)),
    b"digit": b"0123456789",
    b"graph": bytes(range(33, 127)),
    b"lower": b"abcdefghijklmnopqrstuvwxyz",
    b"print": bytes(range(32, 127)),
    b"punct": bytes(byte for byte in range(33, 127) if not chr(byte).isalnum()),
    b"space": b" \t\n\r",
    b"upper": b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"xdigit": b"0123456789abcdefABCDEF",
}


def tokens_of(pattern: bytes, *, is_path: bool) -> list[int] | None:
    """What a pattern consumes, step by step: sets of bytes, and stars. None for one that matches nothing.

    A pattern of a path is compared with a path below its folder, any other with a last component.
    """
    found: list[int] = []
    first = next((at for at, byte in enumerate(pattern) if byte in SPECIAL), len(pattern))
    at = 0
    while at < len(pattern):
        byte = pattern[at]
        if byte == _STAR_BYTE:
            at = _stars(pattern, at, first if is_path else None, found)
            continue
        if byte == _OPEN:
            members, at = _bracket(pattern, at + 1)
            if not members:
                return None
            found.append(members)
            continue
        if byte == _ESCAPE:
            at += 1
            if at == len(pattern):
                return None
            byte = pattern[at]
            found.append(1 << byte)
        else:
            found.append(_NO_SLASH if byte == _QUESTION else 1 << byte)
        at += 1
    return found


def _stars(pattern: bytes, at: int, first: int | None, found: list[int]) -> int:
    """Append what a run of stars at `at` is, and return where the pattern goes on. `first` is where its
    wildcards begin if it is a pattern of a path.
    """
    end = at
    while pattern[end : end + 1] == b"*":
        end += 1
    begins = first is not None and (at == first or pattern[at - 1] == _SLASH)
    if not (begins and end - at > 1):
        found.append(_STAR)
    elif pattern[end : end + 1] == b"/":
        # `**/**/` is `**/`: two entries are never side by side.
        if found[-3:] != _ANY_FOLDERS:
            found += _ANY_FOLDERS
        return end + 1
    else:
        found.append(_ANY if end == len(pattern) or pattern[end : end + 2] == rb"\/" else _STAR)
    return end


def _bracket(pattern: bytes, at: int) -> tuple[int, int]:
    """The set of bytes of a `[...]` whose inside begins at `at`, and where the pattern goes on; an empty set
    for one that is not closed, and that nothing matches.
    """
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    members, before, first = 0, 0, True
    while first or pattern[at : at + 1] != b"]":
        first = False
        if at >= len(pattern):
            return 0, at
        byte = pattern[at]
        if byte == _DASH and before and at + 1 < len(pattern) and pattern[at + 1] != _CLOSE:
            at += 1 + (pattern[at + 1] == _ESCAPE)
            if at >= len(pattern):
                return 0, at
            members |= _range(before, pattern[at])
            before = 0
        elif pattern.startswith(b"[:", at) and (end := _named_end(pattern, at + 2)) is not None:
            named = _CLASSES.get(pattern[at + 2 : end - 1])
            if named is None:
                return 0, at
            members |= _set_of(named)
            before, at = 0, end
        else:
            at += byte == _ESCAPE
            if at >= len(pattern):
                return 0, at
            before = pattern[at]
            members |= 1 << before
        at += 1
    return (~members if negated else members) & _NO_SLASH, at + 1


def _named_end(pattern: bytes, at: int) -> int | None:
    """Where the `]` of a `[:name:]` stands whose name begins at `at`; None if it is an ordinary set. The end
    of the pattern for one that is not closed.
    """
    end = pattern.find(b"]", at)
    if end < 0:
        return len(pattern)
    return end if end > at and pattern[end - 1 : end] == b":" else None


def _range(low: int, high: int) -> int:
    return (1 << high + 1) - (1 << low) if low <= high else 0


@lru_cache
def _set_of(members: bytes) -> int:
    return sum(1 << byte for byte in set(members))


class Automaton:
    """Patterns by their number, the later the stronger. `add` them, then ask; states are opaque."""

    def __init__(self) -> None:
        self.size = 0
        self._consuming: dict[int, list[int]] = {}
        self._bits: dict[str, list[int]] = {}
        self._numbers: dict[int, int] = {}
        self._step: dict[int, tuple[int, int]] = {}
        self._frozen: dict[str, int] = {}

    def add(self, number: int, tokens: Iterable[int], *, is_path: bool, folders_only: bool) -> None:
        """Add a pattern; a larger `number` than before."""
        self._mark("starts" if is_path else "restarts", self.size)
        for token in tokens:
            if token >= 0:
                self._consuming.setdefault(token, []).append(self.size)
            else:
                self._mark({_STAR: "stars", _ANY: "anys", _ENTRY: "entries"}[token], self.size)
            self.size += 1
        self._numbers[self.size] = number
        self._mark("accepting", self.size)
        if not folders_only:
            self._mark("accepting_files", self.size)
        self.size += 1

    def start(self) -> int:
        """The states in the folder that the patterns are about."""
        return self._closed(self._get("starts") | self._get("restarts"))

    def after(self, states: int, name: bytes) -> int:
        """The states after a name."""
        step = self._step
        entries = self._get("entries")
        loops = self._get("stars") | self._get("anys")
        for byte in name:
            if not states:
                break
            advancing, looping = step.get(byte) or self._steps_of(byte)
            states = (states & advancing) << 1 | states & looping
            if entry := states & entries:
                states |= entry << 1 | entry << 3
            states |= (states & loops) << 1
        return states

    def below(self, states: int) -> int:
        """The states in a folder, from those after its name."""
        return self.after(states, b"/") | self._closed(self._get("restarts"))

    def strongest(self, states: int, *, is_folder: bool) -> int | None:
        """The number of the last pattern that the states are a match of."""
        accepted = states & self._get("accepting" if is_folder else "accepting_files")
        return self._numbers[accepted.bit_length() - 1] if accepted else None

    def _closed(self, states: int) -> int:
        if entry := states & self._get("entries"):
            states |= entry << 1 | entry << 3
        return states | (states & (self._get("stars") | self._get("anys"))) << 1

    def _mark(self, what: str, bit: int) -> None:
        self._bits.setdefault(what, []).append(bit)

    def _get(self, what: str) -> int:
        if what not in self._frozen:
            self._frozen[what] = self._mask(self._bits.get(what, ()))
        return self._frozen[what]

    def _steps_of(self, byte: int) -> tuple[int, int]:
        here = (bits for members, bits in self._consuming.items() if members >> byte & 1)
        looping = self._get("anys") | (0 if byte == _SLASH else self._get("stars"))
        self._step[byte] = found = self._mask(bit for bits in here for bit in bits), looping
        return found

    def _mask(self, bits: Iterable[int]) -> int:
        mask = bytearray(self.size // 8 + 1)
        for bit in bits:
            mask[bit >> 3] |= 1 << (bit & 7)
        return int.from_bytes(mask, "little")
