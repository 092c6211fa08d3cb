"""What a function returns is read by those who use it: its callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from relax_lint.analysis.access_paths import with_fields
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.analysis.events import Overwriting, StaleRead
from relax_lint.model.operations import ValueId
from relax_lint.model.program import Function

_Event = TypeVar("_Event", Overwriting, StaleRead)
_Key = TypeVar("_Key")
UseOf = Callable[[ValueId], "Certainty | None"]
"""How certain it is that a value that is returned is used; None where it is not."""


def certainly_used(value: ValueId) -> Certainty | None:
    """What is returned to somebody who is not known is used."""
    return Certainty.MUST


def combined(
    events: Mapping[_Key, _Event],
    at_return: Mapping[_Key, _Event],
    says_more: Callable[[_Event, _Event], bool],
    use_of: UseOf = certainly_used,
) -> tuple[_Event, ...]:
    """The events of a function with those of its callers, who read what it returns."""
    found = dict(events)
    for key, event in at_return.items():
        use, known = use_of(event.reading.value), found.get(key)
        weaker = replace(event, certainty=weakest(event.certainty, use or Certainty.MAY))
        if known is None or (use is not None and says_more(weaker, known)):
            found[key] = weaker
    return tuple(found.values())


def use_of_returned(
    value: ValueId,
    function: Function,
    aliases: Aliases,
    use_of_field: Callable[[tuple[int, ...]], Certainty | None],
) -> Certainty | None:
    """How certain it is that a caller uses a value which is the result of `function`, or a field of it."""
    is_one = function.tensor_type(value) is not None
    uses, counts = set[Certainty | None](), list[bool]()
    for fields in _places(value, function.result, aliases):
        inner = [use_of_field((*fields, *more)) for more, _ in with_fields(aliases.roots.tree(value))]
        uses.update(inner)
        counts.append(is_one and Certainty.MUST in inner)
    if uses <= {None}:
        return None
    return must_if(any(counts) or uses == {Certainty.MUST})


def _places(value: ValueId, result: ValueId, aliases: Aliases) -> Iterator[tuple[int, ...]]:
    """The fields of the result that a value is."""
    if value == result:
        yield ()
    for index, field in enumerate(aliases.fields.get(result, ())):
        for fields in _places(value, field, aliases):
            yield (index, *fields)
