"""How far a configuration is believed that nobody named, and what `--untrusted` makes of one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
    "time_limit": _at_most,
    "memory_limit": _at_most,
    "max_file_size": _at_most,
    "sandbox": _stricter("off", "auto", "require"),
}
"""What a file that was found must not loosen, one line for each field: what its value may be, given the
default.
"""

_UNTRUSTED: Mapping[str, Any] = {
    "cache": False,
    "trust_models": False,
    "follow_links": False,
    "sandbox": "require",
}


def loosened(config: Config, default: Config) -> tuple[str, str] | None:
    """The first field of a configuration that was found and that loosens a limit, and what it may be."""
    for name, limit in _LIMITS.items():
        allowed = limit(getattr(config, name), getattr(default, name))
        if allowed is not None:
            return name, allowed
    return None


def confined(config: Config) -> Config:
    """A configuration that was found, with no more processes than can work at the same time."""
    return config if config.jobs is None else replace(config, jobs=min(config.jobs, cores()))


def untrusted(config: Config) -> Config:
    """The configuration for inputs that nobody has looked at."""
    return replace(config, **_UNTRUSTED)
