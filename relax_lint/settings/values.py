"""The values that keys of the configuration may have, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relax_lint.results.verdict import Severity
from relax_lint.settings.assumption import AssumptionError, symbols_in
from relax_lint.settings.memory_request import WHOLE, RequestError, read_budget, read_size

ALLOCATORS = ("naive", "pooled")
MAX_FILE_SIZE = 32 << 20

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SEVERITIES = ("error", "warning", "note")

Reader = Callable[[Any], Any]


class WrongValueError(Exception):
    """A value that a key cannot have; the text says what it must be."""


def _integer(least: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or value < least:
            raise WrongValueError(f"a whole number of at least {least}")
        return value

    return read


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value < float("inf"):
        raise WrongValueError("a number of seconds above 0")
    return float(value)


def _size(value: Any) -> int:
    """Bytes: a whole number, or text such as `512 MiB`."""
    if type(value) is int and value > 0:
        return value
    if isinstance(value, str):
        digits = value.rstrip("BKMGTi ")
        unit = value[len(digits) :].strip()
        if digits.isascii() and digits.isdigit() and unit in _UNITS and int(digits) > 0:
            return int(digits) * _UNITS[unit]
    raise WrongValueError("a number of bytes above 0, or text such as '512 MiB'")


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
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
        raise WrongValueError("a list of texts")
    return tuple(value)


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
        return tuple((pattern, _texts(codes)) for pattern, codes in _table(value).items())
    except WrongValueError:
        raise WrongValueError("a table of lists of rule codes by path pattern") from None


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
    return value


def _dialect(value: Any) -> str:
    if value not in ("auto", "current", "old"):
        raise WrongValueError('"auto", "current" or "old"')
    return str(value)


def _weights(value: Any) -> str:
    if value not in ("parameters", "constants"):
        raise WrongValueError('"parameters" or "constants"')
    return str(value)


def _fix_strategy(value: Any) -> str:
    if value not in ("assert", "dynamic", "auto"):
        raise WrongValueError('"assert", "dynamic" or "auto"')
    return str(value)


SANDBOX_MODES = ("off", "auto", "require")
"""How workers are confined, from the loosest to the strictest."""


def _sandbox(value: Any) -> str:
    if value not in SANDBOX_MODES:
        raise WrongValueError('"off", "auto" or "require"')
    return str(value)


READERS: Mapping[str, Reader] = {
    "select": _texts,
    "ignore": _texts,
    "per-file-ignores": _codes_by_pattern,
    "severities": _severities,
    "allocators": _allocators,
    "page-size": _integer(1),
    "trust-declared-bounds": _flag,
    "assume": _assumptions,
    "assume-in": _assumptions_by_function,
    "max-extent": _integer(1),
    "fail-on": _severity,
    "baseline": _text,
    "jobs": _integer(1),
    "time-limit": _seconds,
    "memory-limit": _size,
    "exclude": _texts,
    "max-file-size": _text_size,
    "target": _text,
    "lower": _flag,
    "weights": _weights,
    "devices": _integer(1),
    "dialect": _dialect,
    "fix-strategy": _fix_strategy,
    "max-memory": _budgets,
    "sandbox": _sandbox,
    "cache": _flag,
    "cache-dir": _text,
}
"""By key, what makes a value of it; each raises WrongValueError."""
