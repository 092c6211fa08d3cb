"""RLX304 view-out-of-bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.verdict import Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every reshape keeps the element count; every byte window lies inside its source, aligned; every
    `vm.builtin.copy` has the type of its source.
    """
    for view in facts.views.questions:
        decision = facts.judge(view.claim)
        name, source = view.op.place.binding, facts.name_of(view.op.source)
        if decision.verdict is Verdict.ALWAYS_FINE:
            message = f"view `{name}` covers memory of its source"
        elif view.is_copy:
            message = f"`{name}` is `{source}` itself, and not of the type that the call claims"
        elif view.is_reshape:
            needs, has = facts.elements(view.needs), facts.elements(view.has)
            message = f"view `{name}` has {needs}, `{source}` has {has}"
        elif facts.judge(view.size).verdict is Verdict.ALWAYS_FINE:
            message = f"view `{name}` starts at an offset that is not always a multiple of {view.unit} bytes"
        else:
            needs, has = facts.bytes(view.needs), facts.bytes(view.has)
            message = f"view `{name}` ends after {needs}, `{source}` has {has}"
        yield Judgement(
            view.op.place,
            decision,
            message,
            label=f"view of `{source}`",
            remedies=facts.remedies.assertion(decision, view.op.place),
        )


RULE = Rule(
    code="RLX304",
    name="view-out-of-bounds",
    family="kernels",
    summary="a reshape that changes the element count, or a byte view outside of its source or unaligned",
    since="0.1.0",
    source=__file__,
    check=check,
)
