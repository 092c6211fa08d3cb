"""The configuration: defaults, the `[tool.relax-lint]` table of pyproject.toml, the command line on top."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, TypeAlias

from relax_lint.results.verdict import Severity
from relax_lint.settings.assumption import Assumption
from relax_lint.settings.memory_request import MemoryRequest
from relax_lint.settings.options import KEYS
from relax_lint.settings.pyproject import MAX_BYTES, candidates, has_long_key, line_in_words
from relax_lint.settings.trust import confined, loosened
from relax_lint.settings.values import ALLOCATORS, MAX_FILE_SIZE, READERS, WrongValueError
from relax_lint.support.errors import UserError
from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.support.nearest import did_you_mean
from relax_lint.support.regular_file import is_inside, read_regular
from relax_lint.vm.allocators import DEFAULT_PAGE_SIZE

TABLE = "tool.relax-lint"

_PATHS = tuple(option.field for option in KEYS if option.kind == "path")
_ORIGIN = ("root", "origin")
_INDIFFERENT = (*(option.field for option in KEYS if not option.changes_results), *_ORIGIN, "follow_links")
_SHOWN = 60
DEFAULT_TARGET = "llvm"
"""The target where neither the configuration nor the command line names one."""


class ConfigError(UserError, ValueError):
    """A configuration that cannot be used; the text says where, what and what was probably meant. `key` is
    the key that it is about, if it is about one.
    """

    def __init__(self, text: str, key: str | None = None) -> None:
        super().__init__(text)
        self.key = key


@dataclass(frozen=True)
class Config:
    """What a run is asked to do.

    `select` and `ignore` are prefixes of rule codes (an empty `select` is every rule); `per_file_ignores` are
    patterns of paths with the prefixes that are off there, `severities` prefixes with the severity of what
    they report. `allocators` are the allocators a finding must hold for, `page_size` is the pooled
    allocator's page in bytes. `max_extent` is the largest extent that a tensor parameter is assumed to have,
    in elements. `assume` are conditions that are assumed in every function that has their symbols,
    `assume_in` those for one function, by its name. `fail_on` is the least severity that makes the run fail,
    `baseline` the file of findings that are accepted. `jobs` is the number of worker processes (None: one for
    each core), `time_limit` the seconds that one unit may take, `memory_limit` the bytes of address space
    that a worker may take, `max_file_size` the bytes that a text may have, at most 32 MiB. `exclude` are
    patterns of paths that folders are searched without. `devices` is how many devices there are where a
    module declares none (None: one). `dialect` is how TVMScript is read: `auto`, `current` or `old`.
    `fix_strategy` is what is offered first for a tensor that does not always fit: `assert`, `dynamic` (a
    storage that grows with the tensor), or `auto`.
    `sandbox` is how the workers are confined: `auto` (as far as this system can), `require` (fully or not at
    all) or `off`; a configuration that was found cannot turn it off.
    `cache` says whether the command keeps results, `cache_dir` where (None: where the system keeps caches).
    With `strict` what was not decided, or rests on an assumed environment, has the severity of its rule.
    `proofs` says whether every certain verdict comes with a record of its proof.
    With `lower`, modules without explicit allocations first go through the default pipeline of `target`, or
    of `llvm` where none is named.
    `weights` of models become `parameters` or `constants`. `trust_models`, which no configuration file can
    set, admits models that may execute something while they are loaded. Without `follow_links`, which no file
    can set either, no symbolic link to an input is followed. `root` is the folder that patterns of paths are
    relative to, `origin` the file that was read.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severities: tuple[tuple[str, Severity], ...] = ()
    allocators: tuple[str, ...] = ALLOCATORS
    page_size: int = DEFAULT_PAGE_SIZE
    trust_declared_bounds: bool = True
    max_extent: int = 2**40
    assume: tuple[str, ...] = ()
    assume_in: tuple[tuple[str, tuple[str, ...]], ...] = ()
    fail_on: Severity = Severity.WARNING
    baseline: str | None = None
    jobs: int | None = None
    time_limit: float = 60.0
    memory_limit: int = 4 << 30
    exclude: tuple[str, ...] = ()
    max_file_size: int = MAX_FILE_SIZE
    target: str | None = None
    lower: bool = False
    weights: str = "parameters"
    trust_models: bool = False
    follow_links: bool = True
    devices: int | None = None
    dialect: str = "auto"
    fix_strategy: str = "auto"
    check_form: str = "auto"
    max_memory: tuple[tuple[str, int], ...] = ()
    memory: MemoryRequest = field(default_factory=MemoryRequest)
    strict: bool = False
    proofs: bool = False
    sandbox: str = "auto"
    cache: bool = True
    cache_dir: str | None = None
    root: str = field(default="", compare=False)
    origin: str = field(default="", compare=False)

    @property
    def target_or_default(self) -> str:
        """The target to lower for, and to assume where a module names none."""
        return DEFAULT_TARGET if self.target is None else self.target

    @property
    def target_kind(self) -> str:
        """The kind of that target, which may be written as JSON."""
        text = self.target_or_default
        if not text.lstrip().startswith("{"):
            return text.split()[0]
        try:
            return str(json.loads(text).get("kind", ""))
        except ValueError:
            return ""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What is assumed: `assume`, then `assume_in`."""
        everywhere = [Assumption(text) for text in self.assume]
        inside = [Assumption(text, name) for name, texts in self.assume_in for text in texts]
        return (*everywhere, *inside)

    @property
    def for_analysis(self) -> Config:
        """This configuration without all that does not change how one input is judged."""
        return replace(self, **{name: getattr(_DEFAULTS, name) for name in _INDIFFERENT})


_DEFAULTS = Config()


def load_config(path: str | None = None, *, folder: str = ".") -> Config:
    """The configuration of the file `path`, or of the nearest pyproject.toml, from `folder` upwards, that
    has a `[tool.relax-lint]` table; the defaults if there is none. One that was not named may tighten limits,
    never loosen them. Raises ConfigError.
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
        if key not in READERS:
            shown = key if key.isprintable() and len(key) <= _SHOWN else _shown(key)
            raise ConfigError(f"{origin}: unknown key `{shown}`{did_you_mean(key, READERS)}", key)
        try:
            values[key.replace("-", "_")] = READERS[key](value)
        except WrongValueError as error:
            raise ConfigError(f"{origin}: `{key}` must be {error}, not {_shown(value)}", key) from None
    return replace(config, **values)


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
    folder = os.path.dirname(os.path.abspath(path))
    config = _read_table(path, table, Config(root=folder, origin=path))
    paths: dict[str, Any] = {name: value for name in _PATHS if (value := getattr(config, name)) is not None}
    for name, value in paths.items():
        paths[name] = os.path.join(folder, value)
        # A file that came with somebody's project does not decide where else the tool reads and writes.
        if not required and not is_inside(paths[name], folder):
            raise _only_named(path, name, "stay inside the folder of the discovered configuration")
    config = replace(config, **paths)
    if required:
        return config
    if (loose := loosened(config, _DEFAULTS)) is not None:
        raise _only_named(path, loose[0], f"be {loose[1]} in a discovered configuration")
    return confined(config)


def _read_table(path: str, table: Mapping[str, Any], config: Config) -> Config:
    origin = f"{path}: [{TABLE}]: "
    try:
        return with_options(config, table, origin.removesuffix(": "))
    except ConfigError as error:
        line = line_in_words(path, error.key or "")
        raise ConfigError(f"{origin}{line}{str(error).removeprefix(origin)}") from None


def _only_named(path: str, name: str, what: str) -> ConfigError:
    key = name.replace("_", "-")
    line = line_in_words(path, key)
    return ConfigError(f"{path}: [{TABLE}]: {line}`{key}` must {what}; use --config otherwise")


def _read_toml(path: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data = read_regular(path, MAX_BYTES)
        if has_long_key(data):
            raise ConfigError(f"{path}: nested too deeply")
        return tomllib.loads(data.decode())
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        # Numbers of thousands of digits are no TOML to Python either.
        raise ConfigError(f"{path}: not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        # Python writes no number of thousands of digits.
        text = "one that is too large to be shown"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def as_config(settings: Settings) -> Config:
    """The configuration in any of its forms. Raises ConfigError."""
    if settings is None:
        return Config()
    if isinstance(settings, Config):
        return settings
    if isinstance(settings, Mapping):
        return with_options(Config(), settings, "config")
    return load_config(os.fspath(settings))


Settings: TypeAlias = "Config | Mapping[str, Any] | str | os.PathLike[str] | None"
"""A `Config`; a mapping with the keys of the table `[tool.relax-lint]`; the path of a TOML file with that
table; or None for the defaults.
"""
