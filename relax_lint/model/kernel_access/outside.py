"""When an access leaves its buffer, in terms of the call: all that a step decides is eliminated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from relax_lint.model.kernel_access.accesses import KernelAccess, Obligation
from relax_lint.model.kernel_access.atoms import Kind
from relax_lint.model.kernel_access.conditions import Condition, branches
from relax_lint.model.kernel_access.elimination import Conjunction, can_hold, eliminate
from relax_lint.model.kernel_access.elimination import Left as Case
from relax_lint.model.kernel_access.polynomials import Poly, TooLarge, reduced
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.support.lazy_dataclass import record

MAX_CASES = 24
_BITS_32 = 2**31 - 1

Claim: TypeAlias = "tuple[int | None, bool, Poly]"
"""An axis, whether it is left at its lower end, and the polynomial that is >= 0 where it is left."""


@record(frozen=True)
class Around:
    """What holds where an access is made: conditions, loops that have a step (their atoms), and why there
    may be more to it.
    """

    conditions: tuple[Condition, ...]
    loops: tuple[int, ...]
    why: tuple[str, ...] = ()


def obligations(terms: Terms, claims: Iterable[Claim], around: Around) -> tuple[Obligation, ...]:
    """What is left to be shown for an access to stay inside."""
    found: dict[Obligation, None] = {}
    for axis, below, claim in claims:
        if terms.is_not_negative(-claim.shift(1)):
            continue
        data = is_data(terms, claim.atoms())
        for outside in _Outside(terms, claim, around).found():
            found[Obligation(axis, below, *outside, data=data)] = None
    return tuple(found)


Left: TypeAlias = "tuple[tuple[Poly, ...], bool, str, frozenset[int]]"

_LARGE: Left = (), False, "the kernel is too large for every access to be judged", frozenset()
_MANY: Left = (), False, "it has too many cases", frozenset()
_TOO_LARGE: Left = (), False, "an index is too large to expand", frozenset()


def _because(why: tuple[str, ...], left: Left) -> Left:
    """What is left, where there may be more to it."""
    if any(left is one for one in (_LARGE, _MANY, _TOO_LARGE)):
        return left
    return left[0], False, why[0], left[3]


class _Outside:
    """The calls in which `claim >= 0` holds in a step of the loops."""

    def __init__(self, terms: Terms, claim: Poly, around: Around) -> None:
        self._terms = terms
        self._claim = claim
        self._around = around
        self._cases = 0

    def found(self) -> Iterable[Left]:
        """Each way in which it may happen."""
        for facts, because in branches(self._around.conditions):
            # What has to do with the claim is mostly enough for a proof; the rest tells when a step is made.
            if not self._attempt(_related(self._terms, self._claim, facts), (), ()):
                continue
            yield from self._attempt(facts, self._around.loops, (*self._around.why, *because))

    def _attempt(self, facts: Sequence[Poly], loops: tuple[int, ...], why: tuple[str, ...]) -> list[Left]:
        """The cases under facts. What has to do with a claim is often the same under other conditions."""
        key = (self._claim, *facts), loops, why
        known: list[Left] | None = self._terms.attempts.get(key)
        if known is None:
            tried = self._terms.once((_Outside, *key[:2]), lambda: self._tried(facts, loops))
            known = self._terms.attempts[key] = [_because(why, one) for one in tried] if why else tried
        return known

    def _tried(self, facts: Sequence[Poly], loops: Sequence[int]) -> list[Left]:
        self._cases = 0
        try:
            found = list(self._cases_of([self._claim, *facts], loops, {}, ()))
        except TooLarge:
            return [_TOO_LARGE]
        return [_MANY] if self._cases > MAX_CASES else found

    def _cases_of(
        self,
        constraints: Sequence[Poly],
        loops: Sequence[int],
        chosen: Mapping[int, Poly],
        why: tuple[str, ...],
    ) -> Iterable[Left]:
        """The cases of every choice that occurs; `chosen` are the values of those that were decided on."""
        if self._terms.is_spent:
            yield _LARGE
            return
        system = _System(self._terms, constraints, loops, chosen)
        choice = system.choice
        if choice is None:
            yield from self._judged(system, why)
            return
        for option in self._terms[choice].options:
            put = [p.put(choice, option.value) for p in constraints]
            for more, because in branches((option.condition,)):
                self._cases += 1
                if self._cases > MAX_CASES:
                    return
                yield from self._cases_of(
                    [*put, *more], loops, {**chosen, choice: option.value}, (*why, *because)
                )

    def _judged(self, system: _System, why: Sequence[str]) -> Iterable[Left]:
        terms = self._terms
        cases = eliminate(terms, system.constraints, system.atoms, system.harmless)
        for case in cases:
            found = self._left(case, [*why, *system.why])
            if found is not None:
                yield found

    def _left(self, case: Case, reasons: list[str]) -> Left | None:
        """What a case says of the call; None if no call is like that."""
        terms = self._terms
        # `eliminate` leaves out what is impossible.
        given = case.constraints
        assert given is not None
        constraints = terms.once((_pruned, given), lambda: _possible(terms, given))
        if constraints is None:
            return None
        holds = frozenset(terms.contents_in(constraints).values())
        if not case.exact:
            reasons.append("its index is not a sum of multiples of loop variables")
        return constraints, not reasons, reasons[0] if reasons else "", holds


class _System:
    """A conjunction with the definitions of everything in it."""

    def __init__(
        self, terms: Terms, given: Sequence[Poly], loops: Sequence[int], chosen: Mapping[int, Poly]
    ) -> None:
        self._terms = terms
        self._chosen = chosen
        self.atoms: set[int] = set()
        self.constraints: list[Poly] = []
        self.choice: int | None = None
        self.why: list[str] = []
        pairs: list[tuple[int, Poly, Poly]] = []
        pending = list(given)
        seen = set(loops)
        todo = list(seen)
        while pending or todo:
            while pending:
                p, moving = self._plain_of(pending.pop())
                self.constraints.append(p)
                terms.effort += 1
                fresh = [a for a in moving if a not in seen]
                seen.update(fresh)
                todo += fresh
            if not todo:
                break
            number = todo.pop()
            atom = terms[number]
            if atom.static:
                continue
            if atom.kind is Kind.CHOICE:
                self.choice = number
                return
            self.atoms.add(number)
            if atom.kind not in (Kind.QUOTIENT, Kind.LOOP):
                self.why.append(self._doubt(number))
            defined = terms.definitions.get(number)
            if defined is None:
                defined = terms.definitions[number] = list(self._definition(number))
            if len(defined) == 2 and atom.kind in (Kind.QUOTIENT, Kind.LOADED):
                pairs.append((number, reduced(defined[0]), reduced(defined[1])))
            pending += defined
            if atom.kind is Kind.QUOTIENT and not atom.last.is_constant:
                pending.append(atom.last.shift(-1))
        self.harmless = frozenset(pairs)

    def _plain_of(self, p: Poly) -> tuple[Poly, list[int]]:
        """The plain form, and the atoms in it that are not of the call: kept for systems without choices."""
        found: tuple[Poly, list[int]] | None = None if self._chosen else self._terms.plain.get(p)
        if found is None:
            plain = self._plain(p)
            found = plain, [atom for atom in plain.atoms() if not self._terms[atom].static]
            if not self._chosen:
                self._terms.plain[p] = found
        return found

    def _plain(self, p: Poly) -> Poly:
        """p with the values of choices, and with a - d * (a // d) in the place of a % d."""
        for number in sorted(p.atoms(), reverse=True):
            atom = self._terms[number]
            if number in self._chosen:
                return self._plain(p.put(number, self._chosen[number]))
            if atom.kind is Kind.REMAINDER and not atom.static:
                quotient = self._terms.quotient(atom.first, atom.last)
                if quotient is not None:
                    return self._plain(p.put(number, atom.first - atom.last * quotient))
        return p

    def _doubt(self, number: int) -> str:
        """Why there may be more to what a number says that is not defined by others."""
        if self._terms[number].kind is not Kind.LOADED:
            return "of a number in its index only a range is known"
        stored = "what an earlier step has stored" if number in self._terms.counted else "data"
        return f"its index or a condition around it depends on {stored}"

    def _definition(self, number: int) -> Iterable[Poly]:
        """A lower and an upper bound of an atom."""
        atom, itself = self._terms[number], Poly({(number,): 1})
        if atom.kind is Kind.QUOTIENT:
            multiple = atom.last * itself
            yield multiple + atom.last.shift(-1) - atom.first
            yield atom.first - multiple
            return
        if atom.kind is Kind.LOOP:
            yield itself - atom.first
            yield atom.last - itself
            return
        if atom.bounded:
            yield itself - atom.first
            yield atom.last - itself
            if atom.span[1] is not None and atom.span[1] >= _BITS_32:
                return
        low, high = atom.span
        if low is not None:
            yield itself.shift(-low)
        if high is not None:
            yield (-itself).shift(high)


def _related(terms: Terms, claim: Poly, facts: Sequence[Poly]) -> list[Poly]:
    """The facts that have to do with a claim: those that share an atom with it, or with one that does."""
    reached = reach(terms, claim.atoms())
    related: list[Poly] = []
    pending = [(fact, reach(terms, fact.atoms())) for fact in facts]
    while True:
        near = [one for one in pending if not one[1] or not one[1].isdisjoint(reached)]
        if not near:
            return related
        pending = [one for one in pending if one not in near]
        related += [fact for fact, _ in near]
        reached = reached.union(*(atoms for _, atoms in near))


def reach(terms: Terms, atoms: Iterable[int]) -> set[int]:
    """The atoms that are not of the call, with those that they are defined by."""
    found: set[int] = set()
    todo = list(atoms)
    while todo:
        number = todo.pop()
        atom = terms[number]
        if number in found or atom.static:
            continue
        found.add(number)
        todo += [*atom.first.atoms(), *atom.last.atoms()]
        todo += [a for option in atom.options for a in option.value.atoms()]
    return found


def is_data(terms: Terms, atoms: Iterable[int]) -> bool:
    """Whether what some atoms stand for was computed from data."""
    return any(
        number in terms.from_data or (terms[number].kind is Kind.LOADED and number not in terms.counted)
        for number in reach(terms, atoms)
    )


def _possible(terms: Terms, constraints: Sequence[Poly]) -> tuple[Poly, ...] | None:
    """What has to be said of the constraints; None if no call satisfies them."""
    kept = _pruned(terms, constraints)
    return None if is_impossible(terms, kept) else kept


def is_impossible(terms: Terms, constraints: Sequence[Poly]) -> bool:
    """Whether no call satisfies all constraints."""
    try:
        return _is_impossible(terms, list(constraints))
    except TooLarge:
        return False


def is_never_inside(access: KernelAccess) -> bool:
    """Whether some index is outside its axis whatever the call and the data are."""
    axes = zip(access.where, access.shape, strict=False)
    known = [(index, extent) for index, extent in axes if index is not None and extent is not None]
    return any(is_impossible(access.terms, (index, (extent - index).shift(-1))) for index, extent in known)


def _is_impossible(terms: Terms, constraints: list[Poly]) -> bool:
    todo = [atom for p in constraints for atom in p.atoms()]
    seen: set[int] = set()
    while todo:
        number = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        more = terms.implied.get(number)
        if more is None:
            more = terms.implied[number] = _implied(terms, number)
        constraints += more
        todo += [a for p in more for a in p.atoms()]
    return not can_hold(terms, constraints, seen)


def _implied(terms: Terms, number: int) -> list[Poly]:
    """What an atom is known to be, as constraints."""
    atom, itself = terms[number], Poly({(number,): 1})
    more: list[Poly] = []
    if atom.kind is Kind.QUOTIENT:
        multiple = atom.last * itself
        more += [multiple + atom.last.shift(-1) - atom.first, atom.first - multiple, atom.last.shift(-1)]
    elif atom.kind is Kind.REMAINDER:
        same = itself - atom.first + atom.last * terms.quotient_of(atom)
        more += [same, -same]
    elif atom.kind is Kind.CHOICE:
        sign = 1 if atom.name == "max" else -1
        more += [(itself - option.value).scale(sign) for option in atom.options]
    low, high = atom.span
    if low is not None:
        more.append(itself.shift(-low))
    if high is not None:
        more.append((-itself).shift(high))
    return more


def _pruned(terms: Terms, constraints: Sequence[Poly]) -> tuple[Poly, ...]:
    """The constraints without those that follow from another one."""
    kept = list(Conjunction(terms, constraints).polynomials)
    for p in list(kept):
        for other in kept:
            low = terms.span(p - other)[0]
            if other is not p and low is not None and low >= 0:
                kept.remove(p)
                break
    return tuple(kept)
