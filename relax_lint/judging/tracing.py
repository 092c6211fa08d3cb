"""Which version of a module brought a finding in. Importing this imports TVM."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from relax_lint.judging.courses import Version
from relax_lint.judging.provenance import counterparts, first_with
from relax_lint.results.check import Check
from relax_lint.rule import load_rules
from relax_lint.settings.config import Config
from relax_lint.vm import versions

Found: TypeAlias = Callable[[Version, Config, Collection[int]], "list[Check] | None"]
"""What is found in a version with a configuration, but for the functions whose nodes have some addresses;
None where it cannot be analysed.
"""


@dataclass(frozen=True)
class Origin:
    """A finding as it is where it came in, and the pass that made that version (None: as it was given)."""

    check: Check
    made_by: str | None


class Tracing:
    """Looks for the versions in which findings about the newest one came in. A version is asked for those of
    one rule at a time: what takes long to find is looked for in few versions.
    """

    def __init__(
        self, made: Sequence[Version], findings: Sequence[Check], config: Config, found: Found
    ) -> None:
        self._made = made
        self._findings = findings
        self._config = config
        self._found = found
        self._planned: dict[int, bool] = {}

    def origins(self) -> Iterator[Origin]:
        """Of each finding, in their order."""
        by_rule = {code: self._of_rule(code) for code in dict.fromkeys(one.rule for one in self._findings)}
        for finding in self._findings:
            yield next(by_rule[finding.rule])

    def _of_rule(self, code: str) -> Iterator[Origin]:
        findings, last = [one for one in self._findings if one.rule == code], len(self._made) - 1
        # Nothing else needs to be looked for in the versions before.
        config = only_what(findings, self._config)
        about_plan = load_rules()[code].is_about_plan and self._is_planned(last)

        @cache
        def found(number: int) -> list[Check]:
            if number == last:
                return findings
            version = self._made[number]
            without = functions_without(findings, version, self._made[-1])
            return self._found(version, config, without) or []

        @cache
        def indices_in(number: int) -> list[int | None]:
            return counterparts(findings, found(number))

        for index, _ in enumerate(findings):

            def there(number: int, index: int = index) -> bool:
                if about_plan and not self._is_planned(number):
                    return False
                return indices_in(number)[index] is not None

            number = 0 if there(0) else first_with(0, last, there)
            here = indices_in(number)[index]
            assert here is not None
            yield Origin(found(number)[here], self._made[number].made_by)

    def _is_planned(self, number: int) -> bool:
        known = self._planned.get(number)
        if known is None:
            known = self._planned[number] = versions.has_storages(self._made[number].module)
        return known


def only_what(findings: Sequence[Check], config: Config) -> Config:
    """The configuration with nothing on but the rules of some findings."""
    return replace(config, select=tuple({finding.rule: None for finding in findings}))


def functions_without(findings: Sequence[Check], version: Version, newest: Version) -> frozenset[int]:
    """The addresses of the functions of a version in which none of the findings about the newest one can have
    come in: that one has them still, and neither they nor functions that they refer to there have a finding.
    """
    names = {finding.function for finding in findings}
    left = dict(versions.relax_functions(newest.module))
    wanted = [name for name in left if any(_is_in(one, name) for one in names)]
    referring: dict[str, list[str]] = {}
    for name, function in left.items():
        for other in versions.names_in(function):
            referring.setdefault(other, []).append(name)
    for name in wanted:
        left.pop(name, None)
        # What is found in a function may have been in those that got it out of themselves.
        wanted += [one for one in referring.get(name, ()) if one in left]
    return frozenset(
        versions.identity(function)
        for name, function in versions.relax_functions(version.module)
        if name in left
    )


def _is_in(function: str | None, name: str) -> bool:
    """Whether a function is one of the module, or inside of it. What is about none may be in any."""
    return function is None or function == name or function.startswith(f"{name}.")
