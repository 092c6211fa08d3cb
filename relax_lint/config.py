"""The configuration: defaults, the `[tool.relax-lint]` table of pyproject.toml, the command line on top."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from relax_lint.memory_request import WHOLE, MemoryRequest, RequestError, read_budget, read_size
from relax_lint.pyproject import candidates
from relax_lint.verdict import Severity

TABLE = "tool.relax-lint"
UNREADABLE_BLOCKS = "RLX90"
"""The rules that say that a block could not be analysed: a selection never leaves them out unsaid."""

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


class ConfigError(ValueError):
    """A configuration that cannot be used; the text says where, what and what was probably meant."""


@dataclass(frozen=True)
class Config:
    """What a run is asked to do.

    `select` and `ignore` are prefixes of rule codes (an empty `select` is every rule). `allocators` are the
    allocators a finding must hold for, `page_size` is the pooled allocator's page in bytes. `max_extent` is
    the largest extent that a tensor parameter is assumed to have, in elements. `fail_on` is the least
    severity that makes the run fail. `jobs` is the number of worker processes (None: one for each core),
    `time_limit` the seconds that one unit may take, `memory_limit` the bytes of address space that a worker
    may take, `max_file_size` the bytes that a text may have, at most 32 MiB. `exclude` are patterns of
    paths that folders are searched without. `devices` is how many devices there are where a module declares
    none (None: one). `dialect` is how TVMScript is read: `auto`, `current` or `old`.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    allocators: tuple[str, ...] = ("naive", "pooled")
    page_size: int = 4096
    trust_declared_bounds: bool = True
    max_extent: int = 2**40
    fail_on: Severity = Severity.WARNING
    jobs: int | None = None
    time_limit: float = 60.0
    memory_limit: int = 4 << 30
    exclude: tuple[str, ...] = ()
    max_file_size: int = 32 << 20
    target: str = "llvm"
    devices: int | None = None
    dialect: str = "auto"
    max_memory: tuple[tuple[str, int], ...] = ()
    memory: MemoryRequest = field(default_factory=MemoryRequest)


def load_config(path: str | None = None, *, folder: str = ".") -> Config:
    """The configuration of the file `path`, or of the nearest pyproject.toml, from `folder` upwards, that
    has a `[tool.relax-lint]` table; the defaults if there is none. Raises ConfigError.
    """
    if path is not None:
        return _from_file(path, required=True) or Config()
    for candidate in candidates(folder):
        found = _from_file(candidate, required=False)
        if found is not None:
            return found
    return Config()


def with_options(config: Config, options: Mapping[str, Any], origin: str = "command line") -> Config:
    """`config` with values by key as the table spells them. Raises ConfigError, which names `origin`."""
    values: dict[str, Any] = {}
    for key, value in options.items():
        if key not in _READERS:
            raise ConfigError(f"{origin}: unknown key `{key}`{did_you_mean(key, _READERS)}")
        try:
            values[key.replace("-", "_")] = _READERS[key](value)
        except _WrongValueError as error:
            raise ConfigError(f"{origin}: `{key}` must be {error}, not {_shown(value)}") from None
    if values.get("select"):
        values["select"] = (*values["select"], UNREADABLE_BLOCKS)
    return replace(config, **values)


def did_you_mean(word: str, known: Mapping[str, Any] | list[str]) -> str:
    """`; did you mean ...?` where a known word is near, else nothing."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean `{near[0]}`?" if near else ""


def _from_file(path: str, *, required: bool) -> Config | None:
    table = _read_toml(path)
    names = TABLE.split(".")
    for depth, name in enumerate(names):
        if not isinstance(table, dict):
            raise ConfigError(f"{path}: `{'.'.join(names[:depth])}` must be a table")
        if name not in table:
            if required:
                raise ConfigError(f"{path}: there is no table [{TABLE}]")
            return None
        table = table[name]
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: `{TABLE}` must be a table")
    return with_options(Config(), table, f"{path}: [{TABLE}]")


def _read_toml(path: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None


class _WrongValueError(Exception):
    pass


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _integer(least: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or value < least:
            raise _WrongValueError(f"a whole number of at least {least}")
        return value

    return read


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value < float("inf"):
        raise _WrongValueError("a number of seconds above 0")
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
    raise _WrongValueError("a number of bytes above 0, or text such as '512 MiB'")


def _text_size(value: Any) -> int:
    # More is never read of a text, whatever the configuration of an untrusted folder says.
    size = _size(value)
    if size > Config.max_file_size:
        raise _WrongValueError("a number of bytes up to 32 MiB")
    return size


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _WrongValueError("true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _WrongValueError("text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
        raise _WrongValueError("a list of texts")
    return tuple(value)


def _allocators(value: Any) -> tuple[str, ...]:
    known = Config.allocators
    if not isinstance(value, list | tuple) or not value or not all(item in known for item in value):
        raise _WrongValueError('a list of "naive" and "pooled"')
    return tuple(name for name in known if name in value)


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
        raise _WrongValueError(f"a size with a unit such as '512 MiB' ({error})") from None
    raise _WrongValueError("text such as '512 MiB', or a table of such texts by scope")


def _severity(value: Any) -> Severity:
    if value not in ("error", "warning", "note"):
        raise _WrongValueError('"error", "warning" or "note"')
    return Severity(value)


def _dialect(value: Any) -> str:
    if value not in ("auto", "current", "old"):
        raise _WrongValueError('"auto", "current" or "old"')
    return str(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "select": _texts,
    "ignore": _texts,
    "allocators": _allocators,
    "page-size": _integer(1),
    "trust-declared-bounds": _flag,
    "max-extent": _integer(1),
    "fail-on": _severity,
    "jobs": _integer(1),
    "time-limit": _seconds,
    "memory-limit": _size,
    "exclude": _texts,
    "max-file-size": _text_size,
    "target": _text,
    "devices": _integer(1),
    "dialect": _dialect,
    "max-memory": _budgets,
}
