"""How far a discovered configuration is trusted, and what `--untrusted` makes of one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relax_lint.settings.option import AT_MOST_DEFAULT
from relax_lint.settings.options import KEYS

if TYPE_CHECKING:
    from relax_lint.settings.config import Config

Limit = Callable[[Any, Any], "str | None"]


def cores() -> int:
    """How many processes can work at the same time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _at_most(value: Any, default: Any) -> str | None:
    return None if value <= default else f"at most {default:,}"


def _stricter(*order: str) -> Limit:
    """The limit of a key whose values are `order`, the loosest first."""

    def limit(value: Any, default: Any) -> str | None:
        return None if order.index(value) >= order.index(default) else f"`{default}` or stricter"

    return limit


_LIMITS: Mapping[str, Limit] = {
    option.field: _at_most if option.limit == AT_MOST_DEFAULT else _stricter(*option.choices)
    for option in KEYS
    if option.limit is not None
}
"""By field, what a configuration that was found must not loosen: what its value may be, given the default."""

_UNTRUSTED: Mapping[str, Any] = {
    **{option.field: option.untrusted for option in KEYS if option.untrusted is not None},
    "trust_models": False,
    "follow_links": False,
}


def loosened(config: Config, default: Config) -> tuple[str, str] | None:
    """The first field with which a discovered configuration loosens a limit, and what its value may be."""
    for name, limit in _LIMITS.items():
        allowed = limit(getattr(config, name), getattr(default, name))
        if allowed is not None:
            return name, allowed
    return None


def confined(config: Config) -> Config:
    """A discovered configuration, with no more processes than can work at the same time."""
    return config if config.jobs is None else replace(config, jobs=min(config.jobs, cores()))


def untrusted(config: Config) -> Config:
    """The configuration for untrusted inputs."""
    return replace(config, **_UNTRUSTED)
