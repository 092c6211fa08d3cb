"""The commands `explain` and `rules`."""

from __future__ import annotations

import argparse

from relax_lint.commands.terminal import UsageError, style, write
from relax_lint.judging.selection import unknown_rule
from relax_lint.rule import find_rule, load_rules


def explain(options: argparse.Namespace) -> int:
    """Print the page of the rule `options.code`, a code or a name. Raises UsageError if there is none."""
    from relax_lint.output.page import page_text

    rule = find_rule(options.code.upper()) or find_rule(options.code)
    if rule is None:
        raise UsageError(unknown_rule([options.code]) or f"`{options.code}` is not a whole code")
    try:
        text = rule.page.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"no page for {rule.code}: {error.strerror}") from None
    return write(page_text(text, style(options.color, to_file=False), rule.page.parent))


def list_rules(options: argparse.Namespace) -> int:
    """Print all rules, as text or as JSON."""
    from relax_lint.output.page import rules_json, rules_text

    if options.output_format == "json":
        return write(rules_json(load_rules().values()))
    return write(rules_text(load_rules().values(), style(options.color, to_file=False)))
