"""RLX204 undominated-use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.analysis.dominance import UndominatedUse
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every use of a value that is not defined on every path to it."""
    for decided in facts.undominated_uses():
        op = decided.event.op
        judgement = Judgement.of(decided, None if op is None else op.place, _message(facts, decided.event))
        yield replace(judgement, is_refused=decided.event.early)


def _message(facts: FunctionFacts, use: UndominatedUse) -> Message:
    name = facts.name_of(use.value)
    where = "which is undefined here"
    if use.inside is not None:
        where = f"which is defined only in the inner function `{use.inside}`"
    elif use.definition is not None:
        where = "which is defined on another path" if use.is_certain else "which is not defined on every path"
    action, binding = ("returns", "the function") if use.op is None else ("uses", f"`{use.op.place.binding}`")
    return Message(
        f"{binding} {action} `{name}`, {where}",
        label=f"`{name}` is undefined here" if use.is_certain else f"`{name}` may be undefined here",
        related=() if use.definition is None else ((f"`{name}` is defined here", use.definition.place),),
        help=(f"define `{name}` on every path that reaches this use",),
    )


RULE = Rule(
    code="RLX204",
    name="undominated-use",
    family="lifetimes",
    summary="a storage or tensor that is used where it is not defined on every path",
    since="0.1.0",
    source=__file__,
    check=check,
)
