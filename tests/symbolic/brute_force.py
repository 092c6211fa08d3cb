"""Random claims over small boxes, and what is true of them by trying every point.

The trees are evaluated here by plain Python, not by the package: the two must agree.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import sympy

from relax_lint.results.verdict import Prover, Verdict
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.decision import Decision, FailureStatus, FirstFailure
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.printing import condition_text

Tree = tuple[Any, ...]
NAMES = ("n", "m", "k")
SYMBOLS = {name: sympy.Symbol(name, integer=True) for name in NAMES}


class Undefined(Exception):
    """A division by zero."""


def _quotient(a: int, b: int, *, floor: bool) -> tuple[int, int]:
    if b == 0:
        raise Undefined
    if floor:
        return a // b, a % b
    q = abs(a) // abs(b) * (1 if a * b >= 0 else -1)
    return q, a - b * q


def number(tree: Tree, at: dict[str, int]) -> int:
    """The value of an integer tree. Raises `Undefined`."""
    kind, *rest = tree
    if kind == "int":
        return int(rest[0])
    if kind == "var":
        return at[rest[0]]
    if kind == "select":
        condition = truth(rest[0], at)
        if condition is None:
            raise Undefined
        return number(rest[1] if condition else rest[2], at)
    a, b = (number(t, at) for t in rest)
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "//": lambda: _quotient(a, b, floor=True)[0],
        "%": lambda: _quotient(a, b, floor=True)[1],
        "tdiv": lambda: _quotient(a, b, floor=False)[0],
        "tmod": lambda: _quotient(a, b, floor=False)[1],
        "min": lambda: min(a, b),
        "max": lambda: max(a, b),
        "&": lambda: a & b,
        "|": lambda: a | b,
        "^": lambda: a ^ b,
    }[kind]()


def truth(tree: Tree, at: dict[str, int]) -> bool | None:
    """The truth of a condition tree in three-valued logic; None where it has no value."""
    kind, *rest = tree
    if kind in ("and", "or"):
        parts = [truth(t, at) for t in rest]
        decisive = kind == "or"
        return decisive if decisive in parts else None if None in parts else not decisive
    if kind == "not":
        inner = truth(rest[0], at)
        return None if inner is None else not inner
    try:
        a, b = (number(t, at) for t in rest)
    except Undefined:
        return None
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[kind]


_INTEGER = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": f.FloorDiv,
    "%": f.FloorMod,
    "tdiv": f.TruncDiv,
    "tmod": f.TruncMod,
    "min": sympy.Min,
    "max": sympy.Max,
    "&": f.BitAnd,
    "|": f.BitOr,
    "^": f.BitXor,
}
_RELATION = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge, "==": sympy.Eq, "!=": sympy.Ne}


def to_sympy(tree: Tree) -> Any:
    """The tree as the package sees it."""
    kind, *rest = tree
    if kind == "int":
        return sympy.Integer(rest[0])
    if kind == "var":
        return SYMBOLS[rest[0]]
    parts = [to_sympy(t) for t in rest]
    if kind == "select":
        return f.Select(*parts)
    if kind in ("and", "or", "not"):
        return {"and": sympy.And, "or": sympy.Or, "not": sympy.Not}[kind](*parts)
    return (_INTEGER.get(kind) or _RELATION[kind])(*parts)


def random_number(rng: random.Random, names: tuple[str, ...], depth: int) -> Tree:
    """A random integer tree."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < 0.65:
            return ("var", rng.choice(names))
        return ("int", rng.choice((0, 1, 2, 3, 4, 5, 7, 8, 12, 16, -1, -2, -5)))
    kind = rng.choices(
        ("+", "-", "*", "//", "%", "tdiv", "tmod", "min", "max", "select", "bits"),
        (20, 12, 20, 8, 8, 3, 3, 5, 5, 2, 2),
    )[0]
    a = random_number(rng, names, depth - 1)
    if kind == "select":
        return (kind, random_condition(rng, names, 0), a, random_number(rng, names, depth - 1))
    if kind == "bits":
        kind = rng.choice("&|^")
    if kind in ("//", "%", "tdiv", "tmod") and rng.random() < 0.8:
        return (kind, a, ("int", rng.choice((1, 2, 3, 4, 8, -2, -3))))
    return (kind, a, random_number(rng, names, depth - 1))


def random_condition(rng: random.Random, names: tuple[str, ...], depth: int) -> Tree:
    """A random condition tree."""
    if depth > 0 and rng.random() < 0.35:
        kind = rng.choice(("and", "or", "not"))
        parts = [random_condition(rng, names, depth - 1) for _ in range(1 if kind == "not" else 2)]
        return (kind, *parts)
    relation = rng.choices(("<=", "<", ">=", ">", "==", "!="), (8, 2, 4, 2, 1, 1))[0]
    right: Tree = ("int", rng.randint(-20, 60)) if rng.random() < 0.6 else random_number(rng, names, 2)
    return (relation, random_number(rng, names, 3), right)


@dataclass(frozen=True)
class Case:
    """A claim, and facts over symbols in a box."""

    names: tuple[str, ...]
    box: tuple[tuple[int, int], ...]
    claim: Tree
    facts: tuple[tuple[Tree, FactKind], ...]

    def domain(self) -> Domain:
        """The domain; the box is enforced."""
        facts = [
            Fact(condition, FactKind.ENFORCED, condition_text(condition))
            for name, (low, high) in zip(self.names, self.box, strict=True)
            for condition in (SYMBOLS[name] >= low, SYMBOLS[name] <= high)
        ]
        facts += [Fact(to_sympy(tree), kind, f"{i}: {tree}") for i, (tree, kind) in enumerate(self.facts)]
        return Domain(tuple(SYMBOLS[name] for name in self.names), tuple(facts))

    def value(self, at: dict[str, int]) -> bool | None:
        """The truth of the claim."""
        return self._truth(self.claim, at)

    def _truth(self, tree: Tree, at: dict[str, int]) -> bool | None:
        """The truth of a condition; where sympy cancelled a division by zero (`m//n - m//n`) it has one."""
        value = truth(tree, at)
        if value is None:
            value = _compiled(tree, self.names)(*at.values())
        return value

    def points(self, *kinds: FactKind, only: tuple[int, ...] | None = None) -> Iterator[dict[str, int]]:
        """All points of the box that satisfy the facts of these kinds, of the assumed ones those in `only`."""
        for values in product(*(range(low, high + 1) for low, high in self.box)):
            at = dict(zip(self.names, values, strict=True))
            if all(
                self._truth(tree, at) is True
                for i, (tree, kind) in enumerate(self.facts)
                if kind in kinds and (kind is not FactKind.ASSUMED or only is None or i in only)
            ):
                yield at


@lru_cache(maxsize=256)
def _compiled(tree: Tree, names: tuple[str, ...]) -> Callable[..., bool | None]:
    return compile_condition(to_sympy(tree), tuple(SYMBOLS[name] for name in names))


def random_case(rng: random.Random) -> Case:
    """One random question that sympy can hold (`Max(n//0, 1)` is none), seldom over an empty domain."""
    while True:
        case = _random_case(rng)
        try:
            to_sympy(case.claim), case.domain()
        except (ValueError, TypeError):
            continue
        if rng.random() < 0.1 or any(True for _ in case.points(*FactKind)):
            return case


def _random_case(rng: random.Random) -> Case:
    names = NAMES[: rng.choice((1, 1, 2, 2, 3))]
    sizes = {1: 30, 2: 12, 3: 6}[len(names)]
    box = []
    for _ in names:
        low = rng.choice((0, 0, 0, 1, -3))
        box.append((low, low + rng.randint(0, sizes)))
    facts = tuple(
        (_random_fact(rng, names), rng.choices(list(FactKind), (3, 1, 4))[0])
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))
    )
    return Case(names, tuple(box), random_condition(rng, names, 2), facts)


def _random_fact(rng: random.Random, names: tuple[str, ...]) -> Tree:
    name: Tree = ("var", rng.choice(names))
    other: Tree = ("var", rng.choice(names))
    return rng.choice(
        (
            ("<=", name, ("int", rng.randint(-2, 20))),
            (">=", name, ("int", rng.randint(-2, 6))),
            ("==", ("%", name, ("int", rng.choice((2, 3, 4)))), ("int", rng.choice((0, 0, 1)))),
            ("<", name, other),
            ("==", ("*", ("int", rng.choice((1, 2, 4))), name), other),
            ("==", ("+", other, ("int", rng.randint(0, 3))), name),
            random_condition(rng, names, 2),
        )
    )


def _key(at: dict[str, int], names: tuple[str, ...]) -> tuple[int, tuple[int, ...]]:
    values = tuple(at[n] for n in names)
    return sum(map(abs, values)), values


def _restrict(at: dict[str, int], names: tuple[str, ...]) -> dict[str, int]:
    return {n: at[n] for n in names}


def violations(case: Case, decision: Decision, first: FirstFailure, *, complete: bool) -> list[str]:
    """Everything about the answers that trying all points shows to be untrue.

    `complete` adds what only holds where the prover tries all points too: minimal assumptions.
    """
    kinds = tuple(FactKind)
    members = list(case.points(*kinds))
    values = [case.value(at) for at in members]
    found: list[str] = []
    if not decision.reachable:
        if members:
            found.append("called unreachable, but the domain has members")
        return found
    if not members and complete:
        found.append("the domain is empty, which was not seen")
    listed = tuple(int(fact.text.split(":")[0]) for fact in decision.assumptions)
    if decision.verdict is not Verdict.NEEDS_RUNTIME_CHECK:
        expected = decision.verdict is Verdict.ALWAYS_FINE

        def holds(only: tuple[int, ...]) -> bool:
            return all(case.value(at) is expected for at in case.points(*kinds, only=only))

        if any(v is not expected for v in values):
            found.append(f"{decision.verdict.value} is false")
        if decision.verdict is Verdict.ALWAYS_WRONG and not members:
            found.append("always-wrong on an empty domain")
        if not holds(listed):
            found.append("the listed assumptions do not suffice")
        if complete and any(holds(tuple(i for i in listed if i != dropped)) for dropped in listed):
            found.append("an assumption is not needed")
    elif decision.mixed and not (True in values and False in values):
        found.append("called mixed, but it is not")
    elif complete and not decision.mixed and None not in values:
        found.append("undecided on a domain that can be tried out")
    if decision.safe_when is not None:
        found += _region_violations(case, decision)
    for name, wanted in (("fine", True), ("wrong", False)):
        found += _example_violations(case, getattr(decision, name), name, wanted, members, decision)
    found += _first_failure_violations(case, first)
    return found


def _region_violations(case: Case, decision: Decision) -> list[str]:
    assert decision.safe_when is not None
    region = compile_condition(decision.safe_when, tuple(SYMBOLS[n] for n in case.names))
    for at in case.points(FactKind.ENFORCED, FactKind.GLOBAL):
        claim, allowed = case.value(at), region(*at.values())
        # Where a part of the claim divides by zero, the region may have no value although the claim has.
        if claim is not None and allowed is not None and allowed is not claim:
            return [f"the safe region {condition_text(decision.safe_when)} is wrong at {at}"]
    return []


def _example_violations(
    case: Case, example: Any, name: str, wanted: bool, members: list[dict[str, int]], decision: Decision
) -> list[str]:
    if example is None:
        return [f"no {name} example although mixed"] if decision.mixed else []
    named = tuple(n for n in case.names if n in example)
    alike = [at for at in members if _restrict(at, named) == dict(example)]
    if not alike:
        return [f"the {name} example {example} is not in the domain"]
    if any(case.value(at) is not wanted for at in alike):
        return [f"the {name} example {example} is not {name}"]
    candidates = [_restrict(at, named) for at in members if case.value(at) is wanted]
    certain = decision.verdict is Verdict.ALWAYS_WRONG
    if name == "wrong" and len(named) == 1 and (decision.mixed or certain):
        best = min(candidates, key=lambda at: _key(at, named))
        if best != example:
            return [f"{best} is a smaller wrong example than {example}"]
    if name == "fine" and len(case.names) == 1 and named and decision.mixed:
        best = max(candidates, key=lambda at: at[named[0]])
        if best != example and decision.proof.by is not Prover.UNDECIDED:
            return [f"LARGEST {best} is a larger fine example than {example}"]
    return []


def _first_failure_violations(case: Case, first: FirstFailure) -> list[str]:
    points = [
        at for at in case.points(FactKind.ENFORCED, FactKind.GLOBAL) if all(v >= 0 for v in at.values())
    ]
    failing = [at for at in points if case.value(at) is False]
    if first.status is FailureStatus.NEVER:
        return [f"fails at {failing[0]}, called never"] if failing else []
    if first.status is FailureStatus.UNKNOWN:
        return []
    assert first.at is not None
    named = tuple(n for n in case.names if n in first.at)
    if not failing:
        return [f"never fails, but {first.at} was given"] if points else []
    best = _restrict(min(failing, key=lambda at: _key(_restrict(at, named), named)), named)
    return [] if best == dict(first.at) else [f"first fails at {best}, not {first.at}"]
