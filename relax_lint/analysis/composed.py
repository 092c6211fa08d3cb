"""Whether damage gets through all that is computed from it: operations that each look at what they are
given may come to the same together, as `(t + x) - (t + x)` and `t * 0` do. Functions are carried out for
this at some sizes, as far as it is known what they call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeAlias

from sympy.logic.boolalg import Boolean

from relax_lint.analysis.domains import AT_RETURN, domains_of, entry_domain
from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_damage import DamagedWalk, Damaging
from relax_lint.analysis.trial_harm import Begin, differs_around
from relax_lint.analysis.trial_sizes import Sizes, sized, sizes_struck, sizes_to_try
from relax_lint.analysis.trial_tensors import MOST_IN_PARTS, Stopped, TrialTensor, Unclear
from relax_lint.analysis.trial_walk import Spent
from relax_lint.model.operations import If, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import extents_of
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.quantity import Unknown

_TRIALS = 20
"""So many contents of what comes from outside are tried."""
_MOST_STEPS = 50_000
"""After so many steps of kernels in one function, all trials together, no other one is carried out."""


Since: TypeAlias = "tuple[Op, bool] | None"
"""The operation behind which a value does not hold what it should, and whether that is so because it has
written: otherwise it makes the value, and nobody writes that. None: it is so where the value is read.
"""


class Composed:
    """Asked of one function."""

    def __init__(self, flow: Flow, called_first: Callable[[], Sequence[Flow]]) -> None:
        self._flow = flow
        self._function = flow.function
        self._called_first = called_first
        """The functions that calls from outside begin with, which lead to this one."""
        self._known: dict[Damaging, bool | None] = {}
        self._lost: dict[Damaging, bool] = {}
        self.left = _MOST_STEPS
        """The steps that are left."""

    def matters(self, op: Op, value: ValueId, since: Since, written: ValueId | None = None) -> bool | None:
        """Whether it was seen to matter for what a function gives back that a value which an operation reads
        does not hold what it should `since` another one: nothing of it does, or what that one has `written`
        over does not. None where that was not found out.
        """
        # What every run gets to that comes to an end need not be waited for.
        is_waited_for = since is not None and op.place.index in self._in_branches
        damage = _damaging(value, since, op.place.index, written, op.place.index if is_waited_for else None)
        if damage not in self._known:
            found = self._tried(damage)
            self._known[damage] = False if found is not False and self._is_lost(damage) else found
        return self._known[damage]

    def matters_to_callers(self, value: ValueId, since: Since, written: ValueId | None = None) -> bool:
        """Whether it was not seen to come to the same with all callers that a value does not hold what it
        should when the function returns.
        """
        return not self._is_lost(_damaging(value, since, AT_RETURN, written, None))

    @cached_property
    def _in_branches(self) -> frozenset[int]:
        """The operations in branches, by index."""
        blocks = (block for op in self._function.body.of(If) for block in (op.then_block, op.else_block))
        return frozenset(op.place.index for block in blocks for op in block.ops)

    def tried_with(self, begin: Begin) -> bool | None:
        """Whether a run with some contents finds at each size that something matters."""
        usual = sizes_to_try(self._function, *self._known_at(AT_RETURN))
        found = _in_all([self._found(partial(self._run, begin, sizes)) for sizes in usual])
        is_lost = found is not False and any(
            self._found(partial(self._run_around, begin, *around)) is False for around in self._around
        )
        return False if is_lost else found

    def _run(self, begin: Begin, sizes: Sizes, trial: int) -> bool | None:
        return begin(self, self._flow, sizes, trial, None).differs()

    def _run_around(self, begin: Begin, flow: Flow, sizes: Sizes, trial: int) -> bool | None:
        return differs_around(self, flow, sizes, trial, self._function.name, begin)

    def _is_lost(self, damage: Damaging) -> bool:
        """Whether it was seen to come to the same in a function that is called first."""
        if damage not in self._lost:
            self._lost[damage] = any(self._is_lost_at(damage, *around) for around in self._around)
        return self._lost[damage]

    def _is_lost_at(self, damage: Damaging, flow: Flow, sizes: Sizes) -> bool:
        found = self._found_of(damage, lambda begin, trial: self._run_around(begin, flow, sizes, trial))
        return found is False

    @cached_property
    def _around(self) -> tuple[tuple[Flow, Sizes], ...]:
        """What is called first, each at some sizes."""
        return tuple(
            (flow, sizes)
            for flow in self._called_first()
            for sizes in sizes_to_try(flow.function, *_known_in(_domains_of(flow.function), AT_RETURN))
        )

    def _found_of(self, damage: Damaging, run: Callable[[Begin, int], bool | None]) -> bool | None:
        """What is found with what is written there, or where that is not known with anything."""
        for is_real in (True, False) if damage.behind else (False,):
            found = self._found(partial(run, partial(DamagedWalk, damage=damage, is_real=is_real)))
            if found is not None:
                return found
        return None

    def _tried(self, damage: Damaging) -> bool | None:
        # What is not damaged, or nobody gets to, tells nothing.
        known = *self._known_at(damage.at), *self._known_at(AT_RETURN)
        apart = None if damage.written is None else self._apart(damage.written, damage.value)
        sizes = (
            sizes_to_try(self._function, *known)
            if apart is None
            else sizes_struck(self._function, apart, *known)
        )
        found = [self._tried_at(one, damage) for one in sizes]
        if damage.written is None:
            return _in_all(found)
        # Who looks at a part may look at another one at other sizes.
        return False if False in found or not found else None if None in found else True

    def _apart(self, written: ValueId, value: ValueId) -> Boolean | None:
        """Where a write of one value reaches no byte of another one; None where that is not known."""
        memory = self._flow.memory
        apart = memory.range(written).disjoint(memory.range(value))
        return None if written == value or isinstance(apart, Unknown) else apart

    def _known_at(self, at: int) -> tuple[Boolean, ...]:
        """What holds at an operation, or the return."""
        return _known_in(self._domains, at)

    @cached_property
    def _domains(self) -> dict[int, Domain]:
        return _domains_of(self._function)

    def _tried_at(self, sizes: Sizes, damage: Damaging) -> bool | None:
        """The same at some sizes: with what is written there, or where that is not known with anything."""
        type_ = sized(self._function.type_of(damage.value), sizes)
        if not TrialTensor.fits(type_):
            return None
        found = self._found_of(damage, lambda begin, trial: self._run(begin, sizes, trial))
        is_large = math.prod(extents_of(type_)) > MOST_IN_PARTS
        # Some steps may all leave a part alone that others look at.
        return None if damage.written is not None and is_large and found is False else found

    def _found(self, run: Callable[[int], bool | None]) -> bool | None:
        """Whether any of some runs with some contents shows the damage; None where that was not found out."""
        found = set[bool | None]()
        try:
            for trial in range(_TRIALS):
                found.add(_shown(run, trial))
                if True in found:
                    return True
        except Unclear:
            return None
        except Spent:
            # As far as it was tried.
            pass
        return False if False in found else None


def _damaging(value: ValueId, since: Since, at: int, written: ValueId | None, reader: int | None) -> Damaging:
    if since is None:
        return Damaging(value, at, False, written, reader)
    op, has_written = since
    # What a kernel makes is unwritten before it, all of it.
    return Damaging(value if has_written else op.result, op.place.index, has_written, written, reader)


def _shown(run: Callable[[int], bool | None], trial: int) -> bool | None:
    try:
        return run(trial)
    except Stopped:
        # A run that ends there gives nothing back.
        return False


def _domains_of(function: Function) -> dict[int, Domain]:
    return domains_of(function, entry_domain(function, trust_declared_bounds=True))


def _known_in(domains: Mapping[int, Domain], at: int) -> tuple[Boolean, ...]:
    """What holds at an operation of a function, or its return."""
    return tuple(fact.condition for fact in domains[at].facts)


def _in_all(found: Sequence[bool | None]) -> bool | None:
    """What is so at each of some sizes."""
    return False if False in found else True if True in found else None
