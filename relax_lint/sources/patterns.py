"""Patterns of paths, in the syntax of `.gitignore`, that somebody else may have written."""

from __future__ import annotations

from relax_lint.sources.wildcards import SPECIAL, Automaton, tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_WILD = 1 << 14
"""What the patterns with wildcards may have in characters, together: each byte of each name costs a step of
so many bits. Names without wildcards are looked up and do not count.
"""


def path_patterns(lines: Iterable[str], room: int = MAX_WILD) -> PathPatterns:
    """The patterns in lines of text."""
    return PathPatterns((_bytes(line) for line in lines), room)


def patterns_in(data: bytes, room: int = MAX_WILD) -> PathPatterns:
    """The patterns in a file such as `.gitignore`."""
    return PathPatterns(_lines(data.removeprefix(b"\xef\xbb\xbf")), room)


class PathPatterns:
    """Patterns that say of each path below a folder whether it is ignored, as git does it.

    `left_out` is how many patterns had no room; `size` what the others take of it.
    """

    def __init__(self, lines: Iterable[bytes], room: int) -> None:
        self.left_out = 0
        self.size = 0
        self._negated: list[bool] = []
        self._automaton = Automaton()
        # By name, and by path, the last of the patterns for folders and the last of those for all.
        self._names: dict[bytes, tuple[int, int]] = {}
        self._paths: dict[bytes, tuple[int, int]] = {}
        for line in lines:
            self._add(line, room)

    def top(self) -> Position:
        """The folder that the patterns are about."""
        return Position(self, b"", self._automaton.start())

    def match_file(self, path: str) -> bool:
        """Whether a path of a file, relative to the folder and with `/`, is ignored, itself or a folder of
        it.
        """
        *folders, name = path.split("/")
        here = self.top()
        for folder in folders:
            if here.verdict(folder, is_folder=True):
                return True
            here = here.enter(folder)
        return here.verdict(name, is_folder=False) is True

    def _add(self, line: bytes, room: int) -> None:
        if line.startswith(b"#"):
            return
        # To git a line is a text that a NUL ends.
        text = _without_trailing_spaces(line.partition(b"\0")[0])
        negated = text.startswith(b"!")
        text = text[negated:]
        folders_only = text.endswith(b"/")
        text = text[: len(text) - folders_only]
        is_path = b"/" in text
        text = text[text.startswith(b"/") :]
        if not text:
            return
        number = len(self._negated)
        if SPECIAL.isdisjoint(text):
            known = self._paths if is_path else self._names
            _, for_all = known.get(text, (-1, -1))
            known[text] = (number, for_all if folders_only else number)
        elif self.size + len(text) + 1 > room:
            # What has no room is not read either: that takes longer than a search should.
            self.left_out += 1
            return
        elif (tokens := tokens_of(text, is_path=is_path)) is None:
            return
        else:
            self.size += len(text) + 1
            self._automaton.add(number, tokens, is_path=is_path, folders_only=folders_only)
        self._negated.append(negated)

    def _verdict(self, path: bytes, name: bytes, states: int, is_folder: bool) -> bool | None:
        column = 0 if is_folder else 1
        number = max(
            self._names.get(name, (-1, -1))[column],
            self._paths.get(path, (-1, -1))[column],
        )
        if self._automaton.size:
            after = self._automaton.after(states, name)
            wild = self._automaton.strongest(after, is_folder=is_folder)
            number = number if wild is None else max(number, wild)
        return None if number < 0 else not self._negated[number]


class Position:
    """A folder, as patterns see it. `path` is its path with a trailing `/`, empty at the top."""

    __slots__ = ("path", "patterns", "states")

    def __init__(self, patterns: PathPatterns, path: bytes, states: int) -> None:
        self.patterns = patterns
        self.path = path
        self.states = states

    def verdict(self, name: str, *, is_folder: bool) -> bool | None:
        """Whether an entry of the folder is ignored; None if no pattern is about it."""
        text = _bytes(name)
        return self.patterns._verdict(self.path + text, text, self.states, is_folder)

    def enter(self, name: str) -> Position:
        """The folder `name` in this one."""
        text, automaton = _bytes(name), self.patterns._automaton
        return Position(
            self.patterns,
            self.path + text + b"/",
            automaton.below(automaton.after(self.states, text)),
        )


def _lines(data: bytes) -> Iterator[bytes]:
    for line in data.split(b"\n"):
        yield line.removesuffix(b"\r")


def _without_trailing_spaces(line: bytes) -> bytes:
    """The line without the spaces at its end that no backslash protects."""
    bare = line.rstrip(b" ")
    if bare == line:
        return line
    escapes = len(bare) - len(bare.rstrip(b"\\"))
    return bare + b" " if escapes % 2 else bare


def _bytes(text: str) -> bytes:
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode(errors="replace")
