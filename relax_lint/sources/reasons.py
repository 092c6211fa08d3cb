"""TVM's error texts, cut down to one line that a reader of the linted file can use."""

from __future__ import annotations

import re

from relax_lint.support import escaping

_LONGEST = 320
_LONGEST_CALL = 60
# The condition in TVM's own source that failed; what it says to the user comes after.
_CHECK = re.compile(r"^Check failed: .*? is false: (?=\S)", re.DOTALL)
_COMPARISON = re.compile(r"^Check failed: [^:]*? \([^()]* vs\. [^()]*\) : (?=\S)")
_MISMATCH = re.compile(
    r"^Mismatched type on argument #(\d+) when calling: `([\w.]+)\(.*?`\. Expected `(.*?)` but got `(.*?)`",
    re.DOTALL,
)
_ADDRESS = re.compile(r"\b([Ff])unction 0x[0-9a-f]+")
_PRINTED = re.compile(r"# from tvm\.script import.*?(?=\.\s\s[A-Z]|\Z)", re.DOTALL)
_OPERATOR = re.compile(r"(?:Operator )?\bir\.Op\((?=span=)")
_CALL = re.compile(r"\bR\.[a-z]\w*(?:\.\w+)*\(")
_OPERATOR_NAME = re.compile(r"\bname=\"([\w.]+)\"")


_BARE_ADDRESS = re.compile(r"(?<![0-9A-Za-z_])0x[0-9a-fA-F]{9,16}(?![0-9A-Za-z_])")


def without_addresses(text: str) -> str:
    """As `escaping.without_addresses`, and without the bare addresses that TVM's errors contain."""
    return _BARE_ADDRESS.sub("", escaping.without_addresses(text))


def reason(text: str) -> str:
    """One line of at most 320 characters: whole sentences, without conditions of TVM's source, addresses
    and printed data structures.
    """
    text = without_addresses(text).strip()
    if found := _MISMATCH.match(text):
        number, function, expected, given = found.groups()
        return f"argument {number} of `{function}` must be `{expected}`, not `{given}`"
    text = _operators_named(_PRINTED.sub("a printed function", text))
    for check in (_CHECK, _COMPARISON):
        text = check.sub("", text, count=1)
    text = " ".join(_ADDRESS.sub(r"\1unction", text).split())
    return _whole_sentences(_calls_shortened(text)) or "TVM gives no reason"


def _operators_named(text: str) -> str:
    """`ir.Op(span=None, ..., name="relax.add", ...)` as `R.add`."""
    while found := _OPERATOR.search(text):
        end = _closing(text, found.end())
        name = _OPERATOR_NAME.search(text, found.end(), end)
        shown = f"`{name[1].replace('relax.', 'R.', 1)}`" if name else "the operator"
        text = text[: found.start()] + shown + text[end:]
    return text


def _calls_shortened(text: str) -> str:
    """Long printed calls as `R.nn.conv2d(...)`; types stay whole."""
    parts, done = [], 0
    for found in _CALL.finditer(text):
        if found.start() < done:
            continue
        end = _closing(text, found.end())
        if end - found.start() > _LONGEST_CALL:
            parts += [text[done : found.end()], "...)"]
            done = end
    return "".join([*parts, text[done:]])


def _closing(text: str, start: int) -> int:
    """The end of the bracket that was opened before `start`; the end of the text if it is not closed."""
    depth, quoted = 1, False
    for index in range(start, len(text)):
        character = text[index]
        if character == '"' and text[index - 1] != "\\":
            quoted = not quoted
        elif not quoted and character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0:
                return index + 1
    return len(text)


def _whole_sentences(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    end = text.rfind(". ", 0, _LONGEST)
    return text[: end + 1] if end > 0 else text[: _LONGEST - 3] + "..."
