"""The values that keys of the configuration may have, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relax_lint.results.verdict import Severity
from relax_lint.settings.assumption import AssumptionError, symbols_in
from relax_lint.settings.memory_request import WHOLE, RequestError, read_budget, read_size
from relax_lint.settings.option import Option
from relax_lint.settings.options import KEYS
from relax_lint.vm.allocators import Allocator

ALLOCATORS = tuple(allocator.value for allocator in Allocator)
MAX_FILE_SIZE = 32 << 20
_MAX_SECONDS = 7 * 24 * 3600
_MAX_SIZE = 1 << 50
_MOST = 2**63 - 1
_MAX_ITEMS = 1000
_MAX_DIGITS = 40
# Excludes have to fit into what a search takes of patterns with wildcards.
_MAX_PATTERNS = 1 << 14

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SEVERITIES = ("error", "warning", "note")

Reader = Callable[[Any], Any]


class WrongValueError(Exception):
    """A value that a key cannot have; the text says what it must be."""


def _integer(least: int, most: int = _MOST) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or value < least:
            raise WrongValueError(f"a whole number of at least {least}")
        if value > most:
            raise WrongValueError(f"a whole number of at most {most}")
        return value

    return read


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value <= _MAX_SECONDS:
        raise WrongValueError(f"a number of seconds above 0 and up to {_MAX_SECONDS:,}")
    return float(value)


def _size(value: Any) -> int:
    """Bytes: a whole number, or text such as `512 MiB`."""
    if type(value) is int and 0 < value <= _MAX_SIZE:
        return value
    if isinstance(value, str) and len(value) <= _MAX_DIGITS:
        digits = value.rstrip("BKMGTi ")
        unit = value[len(digits) :].strip()
        if digits.isascii() and digits.isdigit() and unit in _UNITS:
            size = int(digits) * _UNITS[unit]
            if 0 < size <= _MAX_SIZE:
                return size
    raise WrongValueError("a number of bytes above 0, or text such as '512 MiB', up to 1024 TiB")


def _text_size(value: Any) -> int:
    # More is never read of a text, whatever the configuration of an untrusted folder says.
    size = _size(value)
    if size > MAX_FILE_SIZE:
        raise WrongValueError("a number of bytes up to 32 MiB")
    return size


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError("true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise WrongValueError("text")
    if "\0" in value:
        raise WrongValueError("text without a NUL")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
        raise WrongValueError("a list of texts")
    if len(value) > _MAX_ITEMS:
        raise WrongValueError(f"a list of up to {_MAX_ITEMS:,} texts")
    return tuple(value)


def _patterns(value: Any) -> tuple[str, ...]:
    texts = _texts(value)
    if sum(len(text.encode(errors="surrogateescape")) + 1 for text in texts) > _MAX_PATTERNS:
        raise WrongValueError(f"a list of patterns of up to {_MAX_PATTERNS:,} characters together")
    return texts


def _allocators(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value or not all(item in ALLOCATORS for item in value):
        raise WrongValueError('a list of "naive" and "pooled"')
    return tuple(name for name in ALLOCATORS if name in value)


def _budgets(value: Any) -> tuple[tuple[str, int], ...]:
    """Budgets: one size, a table of sizes by scope, or a list of texts as on the command line."""
    try:
        if isinstance(value, str):
            return ((WHOLE, read_size(value)),)
        if isinstance(value, Mapping) and value and all(isinstance(size, str) for size in value.values()):
            return tuple((scope, read_size(size)) for scope, size in value.items())
        if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
            return tuple(dict(map(read_budget, value)).items())
    except RequestError as error:
        raise WrongValueError(f"a size with a unit such as '512 MiB' ({error})") from None
    raise WrongValueError("text such as '512 MiB', or a table of such texts by scope")


def _severity(value: Any) -> Severity:
    if value not in _SEVERITIES:
        raise WrongValueError('"error", "warning" or "note"')
    return Severity(value)


def _severities(value: Any) -> tuple[tuple[str, Severity], ...]:
    if not isinstance(value, Mapping) or not all(item in _SEVERITIES for item in value.values()):
        raise WrongValueError('a table of "error", "warning" or "note" by rule code')
    return tuple((code, Severity(item)) for code, item in value.items())


def _codes_by_pattern(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    try:
        found = tuple((pattern, _texts(codes)) for pattern, codes in _table(value).items())
        _patterns([pattern for pattern, _ in found])
    except WrongValueError:
        what = (
            f"a table of lists of rule codes by path pattern, of up to {_MAX_PATTERNS:,} characters together"
        )
        raise WrongValueError(what) from None
    return found


def _assumptions(value: Any) -> tuple[str, ...]:
    try:
        texts = _texts(value)
    except WrongValueError:
        raise WrongValueError('a list of conditions such as "n <= 4096"') from None
    for text in texts:
        try:
            symbols_in(text)
        except AssumptionError as error:
            raise WrongValueError(f'a list of conditions such as "n <= 4096" ({error})') from None
    return texts


def _assumptions_by_function(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: list[tuple[str, tuple[str, ...]]] = []
    for name, item in _table(value).items():
        # Without quotes TOML reads `Module.main` as a table in a table.
        if isinstance(item, Mapping):
            found += [(f"{name}.{inner}", texts) for inner, texts in _assumptions_by_function(item)]
        else:
            found.append((name, _assumptions(item)))
    return tuple(found)


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise WrongValueError('a table of lists of conditions such as "n <= 4096" by function')
    if len(value) > _MAX_ITEMS:
        raise WrongValueError(f"a table of up to {_MAX_ITEMS:,} entries")
    return value


def _one_of(choices: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            raise WrongValueError(_alternatives(choices))
        return str(value)

    return read


def _alternatives(choices: tuple[str, ...]) -> str:
    *first, last = (f'"{choice}"' for choice in choices)
    return f"{', '.join(first)} or {last}"


_BY_KIND: Mapping[str, Reader] = {
    "allocators": _allocators,
    "budgets": _budgets,
    "codes": _texts,
    "codes by pattern": _codes_by_pattern,
    "conditions": _assumptions,
    "conditions by function": _assumptions_by_function,
    "flag": _flag,
    "path": _text,
    "patterns": _patterns,
    "seconds": _seconds,
    "severities": _severities,
    "severity": _severity,
    "size": _size,
    "text": _text,
    "text size": _text_size,
}


def _reader(option: Option) -> Reader:
    if option.kind == "integer":
        return _integer(option.least, option.most or _MOST)
    return _one_of(option.choices) if option.kind == "choice" else _BY_KIND[option.kind]


READERS: Mapping[str, Reader] = {str(option.key): _reader(option) for option in KEYS}
"""By key, what makes a value of it; each raises WrongValueError."""
