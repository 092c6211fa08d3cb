"""Untrusted text on its way out: to a terminal, into a log of CI, into JSON, into the header of a diff.

Everything that shows a name, a path or a line of a linted file gets it from here.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

# What begins a command in the log of a CI system, wherever it stands in a line: GitHub Actions and Azure
# Pipelines read `##[...]`, Azure also `##vso[...]`, TeamCity `##teamcity[...]`.
_INSIDE = re.compile(r"#(?=#(?:\[|vso\[|teamcity\[))")
# GitHub Actions reads a line that begins with `::`, after any blanks. Never more than one line: that would
# take the square of the time.
_AT_START = re.compile(r"^((?:[^\S\n]|\x1b\[[0-9;]*m)*):(?=:)", re.MULTILINE)
# Letters and marks that are printable by category, and that nobody sees.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0") | {
    chr(n) for n in range(0xE0100, 0xE01F0)
}
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_GIT_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def shown(character: str) -> str:
    """How one character of untrusted text is written: what would move the cursor, change the direction of
    the text or hide is written as an escape.
    """
    if character in _INVISIBLE:
        return _escape(character)
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return "    " if character == "\t" else _escape(character)


def cells(text: str) -> list[str]:
    """Each character of one line of untrusted text as it is shown; no command of a CI system among them."""
    found = [shown(character) for character in text]
    for match in _INSIDE.finditer(text):
        found[match.start()] = _escape("#")
    return found


def printable(text: str) -> str:
    """Untrusted text of one line, safe to show."""
    return text if text.isascii() and text.isprintable() and "##" not in text else "".join(cells(text))


def printable_lines(text: str) -> list[str]:
    """Untrusted text, line by line, safe to show; at least one line."""
    return [printable(line) for line in text.split("\n")]


def without_commands(text: str) -> str:
    """A whole report without lines that a CI system would carry out, whatever its parts were put together
    from.
    """
    if "::" in text:
        text = _AT_START.sub(r"\1\\x3a", text)
    return _INSIDE.sub(r"\\x23", text) if "##" in text else text


def without_addresses(text: str) -> str:
    """The text of an error without the addresses of objects, which differ from run to run and tell
    where things lie: `<function f at 0x7f...>` is `<function f>`.
    """
    return _ADDRESS.sub("", text) if " at 0x" in text else text


def encodable(text: str) -> str:
    """Text that every encoding of Unicode can write: a byte of a name that is not UTF-8 is an escape."""
    return text.encode("utf-8", "backslashreplace").decode()


def json_text(value: Any, *, compact: bool = False, exact: bool = False) -> str:
    """JSON of one line in ASCII: no control character and no command of a CI system in it. Halves of pairs,
    with which Python tells of names that are not UTF-8, stay only if `exact`: strict readers refuse them.
    """
    separators = (",", ":") if compact else None
    text = json.dumps(value, separators=separators)
    if "\\ud" in text and not exact:
        text = json.dumps(_encodable_values(value), separators=separators)
    return _INSIDE.sub(r"\\u0023", text.replace("\x7f", "\\u007f"))


def readable_json(value: Any) -> str:
    """JSON of one line for a file that people read: letters of all languages as they are, the rest escaped.
    It is exact, halves of pairs included.
    """
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() and "\x7f" not in text else "".join(map(_json_character, text))


def git_name(path: str) -> bytes:
    """A file name in the header of a diff, as git writes it: in C's quotes where it holds anything but
    printable ASCII, so that no name ends its line.
    """
    data = path.encode("utf-8", "surrogateescape")
    if all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in data):
        name = data
    else:
        name = f'"{"".join(map(_git_byte, data))}"'.encode()
    # Readers of diffs end a name with spaces at a tab.
    return name + b"\t" if b" " in data else name


def _git_byte(byte: int) -> str:
    if byte in _GIT_ESCAPES:
        return f"\\{_GIT_ESCAPES[byte]}"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _escape(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character, f"\\x{number:02x}")
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _json_character(character: str) -> str:
    if character.isprintable() and character not in _INVISIBLE:
        return character
    return json.dumps(character)[1:-1] if character != "\x7f" else "\\u007f"


def _encodable_values(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_encodable_values(key): _encodable_values(item) for key, item in value.items()}
    return [_encodable_values(item) for item in value] if isinstance(value, (list, tuple)) else value
