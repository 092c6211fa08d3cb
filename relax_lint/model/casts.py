"""What casts check, and which ones TVM removes: it goes by the types that the IR gives values, whatever else
is known of them.
"""

from __future__ import annotations

from typing import Any

import sympy

from relax_lint.model import matching
from relax_lint.model.context import BuildContext
from relax_lint.model.operations import ValueId
from relax_lint.model.program import Origin
from relax_lint.model.types import ShapeType, TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.domain import Fact
from relax_lint.vm import comparing, versions


@record(frozen=True)
class Cast:
    """What is known behind a cast, whether it was `checked`, and what TVM compares."""

    facts: tuple[Fact, ...]
    checked: bool
    asked: ValueType


def cast(
    context: BuildContext, binding: Any, known: ValueType | None, target: ValueType, origin: Origin
) -> Cast:
    """A cast of what has a `known` type, if any."""
    # TVM believes the type that the IR gives the source, also where that is a copy of something else.
    declared = context.types.type(versions.type_of(binding.value))
    is_true = known is not None and declared == known
    checked = is_true or matching.is_checked(context.symbols, declared, target)
    if checked:
        facts = matching.match_cast_facts(context.symbols, known, target, origin)
    else:
        facts = matching.believed_facts(context.symbols, declared, target, origin)
    asked = target if is_true else matching.asked(context.symbols, declared, target)
    return Cast(tuple(facts), checked, asked)


def is_trivial(context: BuildContext, source: ValueId, binding: Any) -> bool | None:
    """Whether TVM takes the name that a cast gives a value for that value itself. None: it does where a pass
    has looked at the types once more.
    """
    have, want = versions.type_of(binding.value), versions.type_of(binding.var)
    if comparing.structural_equal(have, want):
        return True
    declared, target = context.types.type(have), context.types.type(want)
    if _is_renamed(declared, target):
        return None
    known = context.values[source].type
    # A pass that writes an operator anew gives its result the type that follows from it.
    is_found = known == target and known != declared and source not in context.learned
    return None if is_found else False


def _is_renamed(declared: ValueType, target: ValueType) -> bool:
    """Whether a cast gives extents other names only: TVM puts the extents in their place."""
    if isinstance(declared, TupleType) and isinstance(target, TupleType):
        pairs = zip(declared.fields, target.fields, strict=False)
        return len(declared.fields) == len(target.fields) and all(
            have == want or _is_renamed(have, want) for have, want in pairs
        )
    if isinstance(declared, ShapeType) and isinstance(target, ShapeType):
        return _are_renamed(declared.extents, target.extents)
    if not isinstance(declared, TensorType) or not isinstance(target, TensorType):
        return False
    same = (declared.dtype, declared.device) == (target.dtype, target.device)
    return same and _are_renamed(declared.shape, target.shape)


def _are_renamed(declared: tuple[sympy.Expr, ...] | None, target: tuple[sympy.Expr, ...] | None) -> bool:
    if declared is None or target is None or len(declared) != len(target):
        return False
    pairs = list(zip(declared, target, strict=True))
    names = {want: have for have, want in pairs if want.is_Symbol and want != have}
    # The same sum may be written in another way, and stays then.
    return bool(names) and all(want.xreplace(names) == have for have, want in pairs)
