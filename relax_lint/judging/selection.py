"""The configuration of a program that calls this one, with every name in it known."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.rule import load_rules
from relax_lint.settings.config import TABLE, Config, ConfigError, Settings, as_config
from relax_lint.settings.memory_request import WHOLE, RequestError
from relax_lint.settings.pyproject import line_in_words
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


ALL = "ALL"
"""The word for every rule."""


def known_config(settings: Settings) -> Config:
    """The configuration in any of its forms. Raises ConfigError, also for a rule that there is not."""
    return with_codes(as_config(settings))


def with_codes(config: Config, given: Container[str] = ()) -> Config:
    """The configuration with a prefix of codes for every word that stands for rules. Raises ConfigError for a
    word that stands for none: it names the file, but for the keys that were `given` on the command line.
    """
    named = (*config.select, *config.ignore, *config.per_file_ignores, *config.severities)
    if not named:
        return config

    def prefixes(key: str, words: Iterable[str]) -> tuple[str, ...]:
        found = tuple(words)
        if (unknown := unknown_rule(found)) is not None:
            raise ConfigError(_where(config, key, given) + unknown, key)
        return tuple(map(_prefix, found))

    per_file = [(path, prefixes("per-file-ignores", words)) for path, words in config.per_file_ignores]
    severities = [
        (prefix, severity)
        for word, severity in config.severities
        for prefix in prefixes("severities", [word])
    ]
    return replace(
        config,
        select=prefixes("select", config.select),
        ignore=prefixes("ignore", config.ignore),
        per_file_ignores=tuple(per_file),
        severities=tuple(severities),
    )


def _where(config: Config, key: str, given: Container[str]) -> str:
    if key in given:
        return f"`--{key}`: "
    if not config.origin:
        return f"config: `{key}`: "
    return f"{config.origin}: [{TABLE}]: {line_in_words(config.origin, key)}`{key}`: "


def _prefix(word: str) -> str:
    """The prefix of the codes that a known word stands for: every code begins with the empty one."""
    if word == ALL:
        return ""
    rules = load_rules()
    if any(code.startswith(word) for code in rules):
        return word
    return next(rule.code for rule in rules.values() if rule.name == word)


def unknown_rule(words: Iterable[str]) -> str | None:
    """What there is to say of the first word that stands for no rule: neither a code or a prefix of one, nor
    a name, nor ALL. None where all do.
    """
    chosen = list(words)
    rules = load_rules() if chosen else {}
    names = [rule.name for rule in rules.values()]
    for word in chosen:
        if word not in (ALL, *names) and not any(code.startswith(word) for code in rules):
            near = did_you_mean(word.upper(), [*rules, ALL]) or did_you_mean(word, names)
            return f"unknown rule `{word}`{near}"
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
