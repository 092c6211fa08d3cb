"""Pages of rules on a terminal: what their Markdown has of paragraphs, lists, tables, code and links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from relax_lint.output.style import Style
from relax_lint.output.wrapping import fold, visible_width

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)"
)
_ITEM = re.compile(r"(?:[-*]|[0-9]+\.) +")
_RULE = re.compile(r"\|(?: *:?-+:? *\|)+")
_CELL = re.compile(r"(?<!\\)\|")
_LEAST_COLUMN = 8
_INDENT = "    "


def terminal_text(markdown: str, style: Style, folder: Path) -> str:
    """The page as it is shown; `folder` is where relative links begin."""
    return "\n".join(_Page(style, folder).lines(markdown.splitlines())) + "\n"


class _Page:
    def __init__(self, style: Style, folder: Path) -> None:
        self._style = style
        self._columns = style.columns or 100
        self._folder = folder

    def lines(self, source: Sequence[str]) -> Iterator[str]:
        number = 0
        while number < len(source):
            line = source[number]
            end = number + 1
            if line.startswith("```"):
                while end < len(source) and not source[end].startswith("```"):
                    end += 1
                # Code is shown as it is, so that it can be copied.
                yield from (f"{_INDENT}{code}".rstrip() for code in source[number + 1 : end])
                end += 1
            elif line.startswith("#"):
                yield self._style.paint("strong", self._inline(line.lstrip("# ")))
            elif line.startswith("|"):
                while end < len(source) and source[end].startswith("|"):
                    end += 1
                yield from self._table(source[number:end])
            elif line.strip():
                while end < len(source) and _continues(source[end]):
                    end += 1
                item = _ITEM.match(line)
                words = " ".join(part.strip() for part in source[number:end])
                yield from fold(self._inline(words), self._columns, item.end() if item else 0)
            else:
                yield ""
            number = end

    def _inline(self, text: str) -> str:
        return _INLINE.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        if match["code"] is not None:
            return self._style.paint("code", match["code"]) if self._style.color else match[0]
        if match["strong"] is not None:
            return self._style.paint("strong", self._inline(match["strong"]))
        text, target = self._inline(match["text"]), match["target"]
        address = self._address(target)
        if address is not None and self._style.links:
            return self._style.link(text, address)
        # The documents of the project are not installed with it: their name is what there is to go by.
        return f"{text} ({address or re.sub(r'^(?:[.][.]?/)+', '', target)})"

    def _address(self, target: str) -> str | None:
        """The address that a link leads to; None for a file that is not there."""
        if "://" in target:
            return target
        name, _, anchor = target.partition("#")
        path = self._folder / name
        if not name or not path.is_file():
            return None
        return path.resolve().as_uri() + (f"#{anchor}" if anchor else "")

    def _table(self, source: Sequence[str]) -> Iterator[str]:
        rows = [
            [self._inline(cell.strip()) for cell in _CELL.split(line.strip().strip("|"))]
            for line in source
            if not _RULE.fullmatch(line.strip())
        ]
        columns = max(map(len, rows))
        rows = [[*row, *[""] * (columns - len(row))] for row in rows]
        widths = self._fitting([max(visible_width(row[n]) for row in rows) for n in range(columns)])
        for number, row in enumerate(rows):
            cells = [fold(cell, widths[n], 0) for n, cell in enumerate(row)]
            for line in range(max(map(len, cells))):
                shown = [cell[line] if line < len(cell) else "" for cell in cells]
                padded = [text + " " * (widths[n] - visible_width(text)) for n, text in enumerate(shown)]
                yield "  ".join(["", *padded]).rstrip()
            if number == 0:
                yield "  ".join(["", *("-" * one for one in widths)])

    def _fitting(self, widths: list[int]) -> list[int]:
        """Widths of columns that fit the terminal: the widest gives first."""
        while sum(widths) + 2 * len(widths) > self._columns and max(widths) > _LEAST_COLUMN:
            widths[widths.index(max(widths))] -= 1
        return widths


def _continues(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("#", "|", "```")) and not _ITEM.match(line)
