"""TVM's own integer analysis and its built-in Z3, asked in terms of sympy conditions.

Both answer for unbounded integers, which is what is wanted, but TVM stores constants in 64 bits and
its simplifier folds them with wrap-around. Z3 therefore gets the question unsimplified, and the
simplifier only sees questions in which no intermediate result can leave `SAFE_MAGNITUDE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache, lru_cache
from typing import Any

import sympy
from sympy.logic.boolalg import And, Boolean, Not, Or

from relax_lint.symbolic import functions as f
from relax_lint.symbolic.domain import INT64_MAX, INT64_MIN
from relax_lint.symbolic.intervals import Bounds
from relax_lint.symbolic.polynomial import NotPolynomial

SAFE_MAGNITUDE = 2**61


class Inexpressible(ValueError):
    """TVM has no form of this expression that is safe to analyse."""


@cache
def _tvm() -> tuple[Any, Any]:
    """`vm.versions` and the module of the expression classes; loaded when they are first needed."""
    from tvm import tirx

    from relax_lint.vm import versions

    return versions, tirx


class Encoder:
    """Builds TVM expressions over fresh int64 variables, node by node and without folding."""

    def __init__(self) -> None:
        _, self._tirx = _tvm()
        self._variables: dict[Any, Any] = {}

    def variable(self, symbol: Any) -> Any:
        """The TVM variable of a symbol."""
        if symbol not in self._variables:
            self._variables[symbol] = self._tirx.Var(f"x{len(self._variables)}", "int64")
        return self._variables[symbol]

    def expr(self, e: Any) -> Any:
        """An integer expression. Raises `Inexpressible`."""
        t = self._tirx
        if isinstance(e, sympy.Symbol):
            return self.variable(e)
        if isinstance(e, sympy.Integer):
            return self._constant(int(e))
        if isinstance(e, (sympy.Add, sympy.Mul)):
            return self._fold(t.Add if isinstance(e, sympy.Add) else t.Mul, e.args)
        if isinstance(e, (sympy.Max, sympy.Min)):
            return self._fold(t.Max if isinstance(e, sympy.Max) else t.Min, e.args)
        if isinstance(e, sympy.Pow) and isinstance(e.args[1], sympy.Integer) and 0 < e.args[1] <= 8:
            return self._fold(t.Mul, [e.args[0]] * int(e.args[1]))
        if isinstance(e, f.DIVISIONS):
            node = {f.FloorDiv: t.FloorDiv, f.FloorMod: t.FloorMod, f.TruncDiv: t.Div, f.TruncMod: t.Mod}[
                type(e)
            ]
            return node(self.expr(e.args[0]), self.expr(e.args[1]))
        if isinstance(e, f.Select):
            return t.Select(self.condition(e.args[0]), self.expr(e.args[1]), self.expr(e.args[2]))
        raise Inexpressible(f"no TVM form of {e}")

    def condition(self, c: Any) -> Any:
        """A condition. Raises `Inexpressible`."""
        t = self._tirx
        if c in (sympy.true, sympy.false):
            # A relation instead of a constant: TVM treats constant constraints specially.
            zero = self._constant(0)
            return t.LE(zero, zero) if c == sympy.true else t.LT(zero, zero)
        if isinstance(c, (And, Or)):
            return self._join(t.And if isinstance(c, And) else t.Or, [self.condition(a) for a in c.args])
        if isinstance(c, Not):
            return t.Not(self.condition(c.args[0]))
        nodes = {
            sympy.Eq: t.EQ,
            sympy.Ne: t.NE,
            sympy.Lt: t.LT,
            sympy.Le: t.LE,
            sympy.Gt: t.GT,
            sympy.Ge: t.GE,
        }
        if type(c) in nodes:
            return nodes[type(c)](self.expr(c.args[0]), self.expr(c.args[1]))
        raise Inexpressible(f"no TVM form of {c}")

    def _constant(self, value: int) -> Any:
        if not INT64_MIN < value <= INT64_MAX:
            raise Inexpressible(f"{value} does not fit in 64 bits")
        return self._tirx.IntImm("int64", value)

    def _fold(self, node: Any, arguments: Sequence[Any]) -> Any:
        return self._join(node, [self.expr(a) for a in arguments])

    @staticmethod
    def _join(node: Any, parts: Sequence[Any]) -> Any:
        result = parts[0]
        for part in parts[1:]:
            result = node(result, part)
        return result


@lru_cache(maxsize=1 << 14)
def is_linear(e: Any) -> bool:
    """Whether only numbers are multiplied and divided by."""
    if isinstance(e, sympy.Pow):
        return False
    if isinstance(e, sympy.Mul) and sum(not isinstance(a, sympy.Integer) for a in e.args) > 1:
        return False
    if isinstance(e, f.DIVISIONS) and not isinstance(e.args[1], sympy.Integer):
        return False
    return all(map(is_linear, e.args))


def analyzer_proves(claim: Boolean, facts: Sequence[Boolean], bounds: Bounds) -> bool:
    """Whether TVM's bounds, modular sets and rewriting show the claim under the facts."""
    if not all(_is_tame(c, bounds) for c in (claim, *facts)):
        return False
    versions, _ = _tvm()
    encoder = Encoder()
    try:
        question = encoder.condition(claim)
        constraints = [encoder.condition(c) for c in facts]
    except Inexpressible:
        return False
    strength = versions.arithmetic().ProofStrength.DEFAULT
    return _ask(versions, question, constraints, strength, rlimit=None)


def z3_proves(claim: Boolean, facts: Sequence[Boolean], rlimit: int) -> bool:
    """Whether Z3 finds facts and the negated claim contradictory within `rlimit` resource steps.

    The negated claim is entered as a constraint and a statement about a fresh variable is asked, which
    holds only if the constraints contradict each other: so the simplifier has nothing to fold.
    """
    versions, tirx = _tvm()
    encoder = Encoder()
    try:
        constraints = [encoder.condition(c) for c in (*facts, Not(claim))]
    except Inexpressible:
        return False
    unrelated = tirx.Var("unrelated", "int64")
    question = tirx.GE(unrelated, tirx.IntImm("int64", 1))
    strength = versions.arithmetic().ProofStrength.SYMBOLIC_BOUND
    return _ask(versions, question, constraints, strength, rlimit)


def _ask(versions: Any, question: Any, constraints: Sequence[Any], strength: Any, rlimit: int | None) -> bool:
    with versions.z3_scope():
        analyzer = versions.arithmetic().Analyzer()
        if rlimit is not None:
            if not analyzer.is_z3_enabled:
                return False
            analyzer.set_z3_rlimit(rlimit)
        try:
            with ExitStack() as stack:
                for constraint in constraints:
                    stack.enter_context(analyzer.constraint_scope(constraint))
                return bool(analyzer.can_prove(question, strength))
        except Exception:
            # TVM's bound arithmetic raises InternalError on sums of huge bounds. No answer is no proof.
            return False


def _is_tame(condition: Any, bounds: Bounds) -> bool:
    """Whether no rewriting of the condition can leave 64 bits or divide by zero.

    The measure of a term is the largest absolute value of the same term with all signs made positive.
    """
    if condition in (sympy.true, sympy.false):
        return True
    if isinstance(condition, (And, Or, Not)):
        return all(_is_tame(c, bounds) for c in condition.args)
    try:
        return 2 * sum(_magnitude(side, bounds) for side in condition.args) < SAFE_MAGNITUDE
    except NotPolynomial:
        return False


def _magnitude(e: Any, bounds: Bounds) -> int:
    if isinstance(e, sympy.Integer):
        return max(abs(int(e)), 1)
    if isinstance(e, sympy.Symbol):
        low, high = bounds.atom(e)
        return max(abs(low), abs(high), 1)
    if isinstance(e, f.DIVISIONS):
        if not isinstance(e.args[1], sympy.Integer) or e.args[1] <= 0:
            raise NotPolynomial("a divisor that may be zero")
        return _magnitude(e.args[0], bounds) * int(e.args[1])
    if isinstance(e, (sympy.Add, sympy.Max, sympy.Min)):
        return sum(_magnitude(a, bounds) for a in e.args)
    if isinstance(e, sympy.Mul):
        product = 1
        for a in e.args:
            product *= _magnitude(a, bounds)
        return product
    if isinstance(e, sympy.Pow) and isinstance(e.args[1], sympy.Integer) and e.args[1] >= 0:
        return int(_magnitude(e.args[0], bounds) ** int(e.args[1]))
    raise NotPolynomial("not for TVM's simplifier")
