"""Whether a file can hold Relax at all: a search of its bytes, before anything is parsed or imported."""

from __future__ import annotations

from functools import cache

from relax_lint.sources.kinds import is_model

_HEAD = 256
_BEFORE_JSON = frozenset((b"{", b" ", b"\t", b"\r", b"\n", b"\xef"))
"""How a text may begin that is JSON."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable


def test_of(kind: str, *, named: bool) -> Callable[[bytes], bool] | None:
    """What is False only for the bytes of an input of that kind that holds nothing to judge; None where bytes
    do not tell.
    """
    if kind == "python":
        return _may_be_named_otherwise if named else may_contain_relax
    if kind == "notebook":
        return _may_be_notebook
    if is_model(kind) or (kind == "json" and named):
        return None
    return _may_be_saved if kind == "json" else may_contain_relax


def _may_be_saved(data: bytes) -> bool:
    """False only if no module that TVM has saved is in there."""
    if b'"nodes"' in data and b'"root' in data:
        return True
    if not data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        return False
    from relax_lint.sources.spelling import respelled

    return b'"nodes"' in (text := respelled(data)) and b'"root' in text


def _may_be_named_otherwise(data: bytes) -> bool:
    """False only if no unit is in there, and no JSON that is read under another name."""
    return may_contain_relax(data) or (data[:1] in _BEFORE_JSON and json_kind(data) is not None)


def json_kind(data: bytes) -> str | None:
    """The kind that a text has which begins as JSON does, where that may hold Relax."""
    if not data[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return None
    if _may_be_saved(data):
        return "json"
    return "notebook" if b'"cells"' in data and _may_be_notebook(data) else None


def _may_be_notebook(data: bytes) -> bool:
    """False only if no cell can hold a unit."""
    if may_contain_relax(data):
        return True
    # Nearly all notebooks have no other escapes than these.
    if may_contain_relax(data.replace(b"\\n", b"\n").replace(b"\\t", b"\t")):
        return True
    if data.find(b"\\u") < 0:
        return False
    from relax_lint.sources.spelling import unescaped

    return may_contain_relax(unescaped(data))


def may_contain_relax(data: bytes) -> bool:
    """False only if no unit can be in there."""
    # A character for each byte: a search of text costs a third of one of bytes.
    text = data.decode("latin-1")
    if _names_relax(data, text):
        return True
    if text.isascii():
        # Nearly all files have their first two lines here, and no encoding in them.
        head = text[:_HEAD]
        if "coding" not in head and (len(text) <= _HEAD or head.count("\n") > 1):
            return False
        if not _may_be_encoded(data):
            return False
    from relax_lint.sources.spelling import respelled

    other = respelled(data)
    return other != data and _names_relax(other, other.decode("latin-1"))


def _may_be_encoded(data: bytes) -> bool:
    """Whether a text may be in an encoding in which the bytes of ASCII are other characters."""
    end = data.find(b"\n", data.find(b"\n") + 1)
    first = data[:end] if end >= 0 else data
    if first.find(b"coding") < 0:
        return False
    from relax_lint.sources.spelling import declared_encoding, is_plain

    return (encoding := declared_encoding(first)) is not None and not is_plain(encoding)


def _names_relax(data: bytes, text: str) -> bool:
    # Plain searches are several times faster than patterns, and settle almost every file.
    has_tvm = "tvm" in text
    # What is in a literal may be put together of several, and written with escapes.
    parses = has_tvm and ("from_source" in text or "script" in text)
    if parses and _patterns()[3].search(data) is not None:
        return True
    if "function" not in text and "ir_module" not in text:
        return False
    if not has_tvm and "elax" not in text and "@" not in text:
        return False
    decorated, named, printed, _ = _patterns()
    return bool(named.search(data) or printed.search(data)) and decorated.search(data) is not None


@cache
def _patterns() -> tuple[re.Pattern[bytes], ...]:
    """Compiled for the first file that needs them."""
    import re

    # Every unit is decorated with `ir_module` or with a `function` of TVM's script parser, and whoever writes
    # that names tvm or relax; a printed module without imports says `@R.function`.
    return (
        re.compile(rb"\bir_module\b|\bfunction\b"),
        re.compile(rb"\b(tvm|relax|Relax)\b"),
        re.compile(rb"@[\s\\()]*(R[\s\\()]*\.[\s\\()]*function|I[\s\\()]*\.[\s\\()]*ir_module)\b"),
        re.compile(rb"\bfrom_source\b|\bscript[\s\\()]*\.[\s\\()]*parse\b"),
    )
