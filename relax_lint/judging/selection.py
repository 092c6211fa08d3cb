"""The configuration of a program that calls this one, with every name in it known."""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.rule import load_rules
from relax_lint.settings.config import Config, ConfigError, Settings, as_config
from relax_lint.settings.memory_request import WHOLE, RequestError
from relax_lint.support.nearest import did_you_mean

SCOPES = frozenset(
    {
        "global",
        "global.ddr",
        "global.texture",
        "global.texture-nhwc",
        "global.texture-weight",
        "global.vtcm",
        "ipc_memory",
        "local",
        "shared",
        "shared.dyn",
        "texture",
        "vtcm",
        "warp",
    }
)
"""The scopes of TVM's targets; a module may use others."""


def known_config(settings: Settings) -> Config:
    """The configuration in any of its forms. Raises ConfigError, also for a rule that there is not."""
    config = as_config(settings)
    unknown = unknown_rule(prefixes_of(config))
    if unknown is not None:
        raise ConfigError(f"config: {unknown}")
    return config


def prefixes_of(config: Config) -> list[str]:
    """Every code, or prefix of one, that a configuration names."""
    per_file = [code for _, codes in config.per_file_ignores for code in codes]
    return [*config.select, *config.ignore, *per_file, *dict(config.severities)]


def unknown_rule(prefixes: Iterable[str]) -> str | None:
    """What there is to say of the first prefix that no rule has; None where all are known."""
    chosen = list(prefixes)
    rules = load_rules() if chosen else {}
    by_name = {rule.name: rule.code for rule in rules.values()}
    for prefix in chosen:
        if any(code.startswith(prefix) for code in rules):
            continue
        if prefix in by_name:
            return f"unknown rule `{prefix}`; did you mean `{by_name[prefix]}`?"
        return f"unknown rule `{prefix}`{did_you_mean(prefix.upper(), rules)}"
    return None


def require_known_scopes(config: Config, memory: Iterable[MemoryTotals]) -> None:
    """Raise RequestError for a budget of a scope that is neither one of TVM's nor used by a function."""
    totals = list(memory)
    known = SCOPES.union(*(total.by_scope for total in totals))
    for scope, _ in config.max_memory if totals else ():
        if scope != WHOLE and scope not in known:
            raise RequestError(
                f"no function uses the scope `{scope}` of the budget{did_you_mean(scope, sorted(known))}"
            )
