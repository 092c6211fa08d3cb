"""RLX507 unchecked-parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import NOTHING_TO_SEE
from relax_lint.rule import Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Functions with `num_input`: the VM does not check the parameters that follow."""
    decided = facts.types.unchecked_parameters()
    if decided is None:
        return
    unchecked = decided.event
    names = ", ".join(f"`{facts.name_of(value)}`" for value in unchecked[:3])
    more = f" and {len(unchecked) - 3} more" if len(unchecked) > 3 else ""
    message = Message(
        f"the VM never checks the types of {names}{more}: "
        f"they come after `num_input` of `{facts.function.name}`",
        label="parameters after `num_input` are never checked",
        help=("check the weights when they are loaded, or remove `num_input`",),
    )
    yield Judgement.of(decided, None, message)


RULE = Rule(
    code="RLX507",
    name="unchecked-parameter",
    family="declarations",
    summary="parameters after num_input, whose types the VM does not check",
    since="0.1.0",
    source=__file__,
    check=check,
    # Every compiled model with weights as parameters has them, by design.
    default=False,
    symptoms=NOTHING_TO_SEE,
)
