"""Which findings about two versions of one module are the same finding. A pass renames variables and moves
operations, so that neither positions nor names can be relied on alone. Imports neither TVM nor sympy.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

from relax_lint.results.check import Check
from relax_lint.rule import load_rules

_KERNELS = "kernels"
# An operand, of which a copy has another name; extents and dtypes are numbers and plain words.
_NAME = re.compile(r"`[A-Za-z_]\w*`")


def counterparts(later: Sequence[Check], earlier: Sequence[Check]) -> list[int | None]:
    """For each finding of `later` the index of the same one in `earlier`; None where there is none.

    The same are, one to one and in order, findings of one rule about one binding of one function; then, of
    those that are left, findings of one rule with one condition in one function: their tensor was renamed;
    and findings about one mismatch, of which one is in the fused copy of a function or a kernel.
    """
    found: list[int | None] = [None] * len(later)
    left = list(range(len(earlier)))
    for alike in (_same_binding, _same_condition, _same_mismatch):
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for index in reversed(left):
            waiting[alike(earlier[index])].append(index)
        for index, finding in enumerate(later):
            if found[index] is None and waiting[alike(finding)]:
                found[index] = waiting[alike(finding)].pop()
        taken = set(found)
        left = [index for index in left if index not in taken]
    return found


def of_one_condition(finding: Check, earlier: Sequence[Check]) -> int | None:
    """The index of a finding of the same rule with the same condition in the same function: a pass has made
    two operations of one that both need it. None where the finding has no condition.
    """
    if finding.safe_when is None:
        return None
    wanted = _same_condition(finding)
    return next((index for index, one in enumerate(earlier) if _same_condition(one) == wanted), None)


def first_with(low: int, high: int, has: Callable[[int], bool]) -> int:
    """A number above `low`, up to `high`, that has what the number before it has not, given that `low` has it
    not and `high` has it; found by halving.
    """
    while high - low > 1:
        middle = (low + high) // 2
        if has(middle):
            high = middle
        else:
            low = middle
    return high


def _same_binding(check: Check) -> Hashable:
    return (check.rule, check.function, check.binding)


def _same_condition(check: Check) -> Hashable:
    return (check.rule, check.function, check.verdict, check.safe_when)


def _same_mismatch(check: Check) -> Hashable:
    """What a kernel refuses, wherever it is called: fusion moves calls into functions of their own."""
    rule = load_rules().get(check.rule)
    if rule is None or rule.family != _KERNELS:
        return (check.rule, check.function, check.binding)
    return (check.rule, check.verdict, check.safe_when, _NAME.sub("", check.label))
