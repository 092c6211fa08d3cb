"""What a file says where its bytes do not show it: in another encoding, with letters that Python takes for
others, with escapes. Loaded for files that may have any of these, and loads hardly anything itself.
"""

from __future__ import annotations

import codecs

_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
# In these a byte below 128 is always the character that it is in ASCII.
_PLAIN = frozenset({"ascii", "latin-1", "latin1", "us-ascii", "utf-8", "utf-8-sig", "utf8"})
_PLAIN_FAMILIES = ("cp125", "iso-8859-", "iso8859-", "koi8-", "windows-125")


def wide_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32 where a byte order mark says so: Python reads neither, other programs write them."""
    return next((name for mark, name in _WIDE if data.startswith(mark)), None)


def json_text(data: bytes) -> str:
    """JSON, in whichever encoding its byte order mark says."""
    return data.decode(wide_encoding(data) or "utf-8-sig", "replace")


def respelled(data: bytes) -> bytes:
    """The text in UTF-8 with the letters that Python's parser sees in names, where compatible ones stand for
    those of ASCII.
    """
    from unicodedata import is_normalized, normalize

    encoding = wide_encoding(data) or declared_encoding(data) or "utf-8"
    try:
        text = data.decode(encoding, "replace")
    except (LookupError, UnicodeError):
        text = data.decode("utf-8", "replace")
    # To ask takes a third of the time.
    same = text if is_normalized("NFKC", text) else normalize("NFKC", text)
    return same.encode("utf-8", "replace")


def is_plain(encoding: str) -> bool:
    """Whether the bytes of ASCII stand for themselves in an encoding; not known of many."""
    name = encoding.lower().replace("_", "-")
    return name in _PLAIN or name.startswith(_PLAIN_FAMILIES)


def declared_encoding(data: bytes) -> str | None:
    """The encoding that one of the first two lines declares, as PEP 263 describes it."""
    for line in data.split(b"\n", 2)[:2]:
        comment = line.lstrip(b" \t\f")
        if comment.rstrip(b"\r") and not comment.startswith(b"#"):
            return None
        for rest in comment.split(b"coding")[1:]:
            if rest[:1] in (b":", b"=") and (name := _first_name(rest[1:].lstrip(b" \t"))):
                return name
    return None


def _first_name(text: bytes) -> str:
    end = next((index for index, byte in enumerate(text) if byte not in _NAME), len(text))
    return text[:end].decode("ascii")


def unescaped(data: bytes) -> bytes:
    """JSON with the characters that its escapes stand for, as far as Python's names and spaces go."""
    import re

    spaced = re.sub(rb"\\[nrtbf]", b" ", data)
    return re.sub(rb"(?:\\u[0-9a-fA-F]{4})+", lambda found: _characters(found[0]), spaced)


def _characters(escapes: bytes) -> bytes:
    units = bytes.fromhex(escapes.replace(b"\\u", b"").decode("ascii"))
    return units.decode("utf-16-be", "replace").encode("utf-8", "replace")
