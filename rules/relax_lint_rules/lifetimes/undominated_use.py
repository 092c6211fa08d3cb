"""RLX204 undominated-use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.analysis.dominance import UndominatedUse
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every use of a value that not every path to the use has made."""
    for decided in facts.undominated_uses():
        op = decided.event.op
        yield Judgement.of(decided, None if op is None else op.place, _message(facts, decided.event))


def _message(facts: FunctionFacts, use: UndominatedUse) -> Message:
    name = facts.name_of(use.value)
    where = "which nothing binds"
    if use.inside is not None:
        where = f"which only the inner function `{use.inside}` has"
    elif use.definition is not None:
        where = "which another path makes" if use.is_certain else "which only some paths make"
    action, binding = ("returns", "the function") if use.op is None else ("uses", f"`{use.op.place.binding}`")
    return Message(
        f"{binding} {action} `{name}`, {where}",
        label=f"`{name}` does not exist here",
        related=() if use.definition is None else ((f"`{name}` is made here", use.definition.place),),
        help=(f"make `{name}` before, on every path that leads here",),
    )


RULE = Rule(
    code="RLX204",
    name="undominated-use",
    family="lifetimes",
    summary="a storage or tensor that is used where it was not made on every path",
    since="0.1.0",
    source=__file__,
    check=check,
)
