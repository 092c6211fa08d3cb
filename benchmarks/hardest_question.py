"""A search for the question that costs the provers most: random questions, the most expensive are changed on.

python -m benchmarks.hardest_question [--seconds 120] [--seed 0] [--shown 5]

A question is a claim and facts over up to 40 symbols: sums of up to 40 products, divisions, remainders, Max,
Min, choices, joined by and and or. What is told of a question is what deciding it took, and how many of the
steps of `symbolic.work` it had taken by then. The exit code is 1 where one took more than a second.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

import sympy

from benchmarks.common import options, table
from benchmarks.effort import UNIT, now
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.domain import Domain, Fact
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.translate import extreme
from relax_lint.vm.facts import FactKind

SYMBOLS = tuple(sympy.Symbol(f"n{number}", integer=True) for number in range(40))
NUMBERS = (0, 1, 2, 3, 4, 7, 16, 64, 100, 1024, 4096, 2**31, 2**40)
RELATIONS = (sympy.Le, sympy.Ge, sympy.Eq, sympy.Ne, sympy.Lt)
KEPT = 12
LIMIT_S = 1.0


@dataclass(frozen=True)
class Shape:
    """How large the parts of a question are."""

    symbols: int = 3
    terms: int = 4
    depth: int = 2
    parts: int = 2
    facts: int = 3
    nonlinear: float = 0.5
    seed: int = 0

    @classmethod
    def anywhere(cls, dice: random.Random) -> Shape:
        """Any sizes: the deeper, the fewer terms, as sympy takes long to make what is both."""
        depth = dice.choice((0, 0, 1, 1, 2, 3))
        symbols, terms = dice.choice((1, 2, 3, 5, 10, 40)), dice.choice((1, 3, 8, 40)) >> depth
        parts, facts = dice.choice((1, 2, 6, 12)), dice.choice((0, 2, 8, 40))
        return cls(symbols, max(terms, 1), depth, parts, facts, dice.random(), dice.randrange(1 << 30))

    def changed(self, dice: random.Random) -> Shape:
        """One of the sizes is another, or the question is another of these sizes."""

        def size(value: int, most: int) -> int:
            return max(1, min(most, dice.choice((value + 1, value * 2, value - 1, value // 2))))

        which = dice.randrange(7)
        new = self.__dict__ | {"seed": dice.randrange(1 << 30)}
        if which < 5:
            name, most = (("symbols", 40), ("terms", 40), ("depth", 4), ("parts", 12), ("facts", 40))[which]
            new[name] = size(new[name], most)
        elif which == 5:
            new["nonlinear"] = dice.random()
        return Shape(**new)


class Maker:
    """Makes the question of a shape."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._dice = random.Random(repr(shape))

    def question(self) -> tuple[Any, Domain]:
        symbols = SYMBOLS[: self._shape.symbols]
        claim = self._joined(self._shape.parts)
        facts = [Fact(sympy.Ge(s, 0), FactKind.ENFORCED, "") for s in symbols if self._dice.random() < 0.9]
        for _ in range(self._shape.facts):
            kind = self._dice.choice(list(FactKind))
            facts.append(Fact(self._relation(), kind, ""))
        return claim, Domain(symbols).with_facts(facts)

    def _joined(self, parts: int) -> Any:
        join = self._dice.choice((sympy.And, sympy.Or))
        return join(*(self._relation() for _ in range(self._dice.randint(1, parts))))

    def _relation(self) -> Any:
        return self._dice.choice(RELATIONS)(self._sum(self._shape.depth), self._sum(self._shape.depth))

    def _sum(self, depth: int) -> Any:
        count = self._dice.randint(1, self._shape.terms if depth == self._shape.depth else 3)
        return sympy.Add(*(self._product(depth) for _ in range(count)))

    def _product(self, depth: int) -> Any:
        factors = [self._dice.choice(SYMBOLS[: self._shape.symbols])]
        while self._dice.random() < self._shape.nonlinear / 2:
            factors.append(self._factor(depth))
        return sympy.Mul(self._dice.choice(NUMBERS), *factors)

    def _factor(self, depth: int) -> Any:
        if depth == 0 or self._dice.random() < 0.4:
            return self._dice.choice((*SYMBOLS[: self._shape.symbols], *map(sympy.Integer, NUMBERS)))
        a, b = self._sum(depth - 1), self._sum(depth - 1)
        positive = sympy.Integer(self._dice.choice(NUMBERS[1:]))
        kind = self._dice.randrange(6)
        if kind == 0:
            return extreme(sympy.Max)(a, b)
        if kind == 1:
            return extreme(sympy.Min)(a, b)
        if kind == 2:
            return f.Select(sympy.Le(a, b), a, self._dice.choice((b, positive)))
        operation = self._dice.choice(f.DIVISIONS)
        return operation(a, positive if self._dice.random() < 0.8 else b)


def cost(shape: Shape) -> tuple[float, float, int, str]:
    """Effort, seconds of processor time, steps and the answer; the question itself is made before."""
    try:
        claim, domain = Maker(shape).question()
    except (ValueError, TypeError, ZeroDivisionError, RecursionError):
        return 0, 0, 0, "none"
    chain = ProverChain()
    began, effort = time.process_time(), now()
    decision = chain.decide(claim, domain)
    taken = now() - effort, time.process_time() - began
    return *taken, chain.most_work, f"{decision.verdict.value}: {decision.proof.detail[:70]}"


def main() -> int:
    arguments = options(__doc__, seconds=120.0, seed=0, shown=5)
    dice = random.Random(arguments.seed)
    best: list[tuple[float, float, int, str, Shape]] = [(0, 0, 0, "", Shape())]
    tried, end = 0, time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        shape = Shape.anywhere(dice) if dice.random() < 0.5 else dice.choice(best)[-1].changed(dice)
        found = (*cost(shape), shape)
        tried += 1
        best = sorted((*best, found), key=lambda one: -one[0])[:KEPT]
    rows = [
        (f"{effort / 1e6:.0f}", f"{seconds:.2f} s", f"{steps:,}", answer, shape)
        for effort, seconds, steps, answer, shape in best[: arguments.shown]
    ]
    print(
        f"{tried} questions\n\n" + table((f"millions of {UNIT}", "took", "steps", "answer", "question"), rows)
    )
    return int(best[0][1] > LIMIT_S)


if __name__ == "__main__":
    raise SystemExit(main())
