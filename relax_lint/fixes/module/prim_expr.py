"""sympy expressions as expressions of the IR, over the variables of one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import sympy
from sympy.logic.boolalg import And, Or
from tvm import tirx

from relax_lint.symbolic import functions as f
from relax_lint.symbolic.backend import Encoder, Inexpressible
from relax_lint.symbolic.printing import (
    ordered_arguments,
    ordered_conditions,
    ordered_factors,
    ordered_terms,
    relation_sides,
)

_BITWISE: dict[Any, Callable[[Any, Any], Any]] = {
    f.BitAnd: tirx.bitwise_and,
    f.BitOr: tirx.bitwise_or,
    f.BitXor: tirx.bitwise_xor,
}
_DIVISIONS = (f.FloorDiv, f.FloorMod, f.TruncDiv, f.TruncMod)


def _may_fail(e: sympy.Expr) -> bool:
    """Whether an expression divides by what may be zero."""
    return any(not one.args[1].is_Integer or one.args[1] == 0 for one in e.atoms(*_DIVISIONS))


class PrimExprWriter(Encoder):
    """Writes the expressions that people are to read: with the function's own variables, terms and
    factors in the order of messages, everything computed in int64.
    """

    def __init__(self, variables: Mapping[sympy.Symbol, Any]) -> None:
        super().__init__()
        self._own = variables

    def value(self, symbol: sympy.Symbol) -> Any:
        """The variable of a symbol, with its own type. Raises `Inexpressible`."""
        variable = self._own.get(symbol)
        if variable is None:
            raise Inexpressible(f"no IR variable represents {symbol}")
        return variable

    def variable(self, symbol: sympy.Symbol) -> Any:
        """The variable of a symbol, as int64. Raises `Inexpressible`."""
        variable = self.value(symbol)
        return variable if str(variable.ty.dtype) == "int64" else tirx.Cast("int64", variable)

    def expr(self, e: Any) -> Any:
        """An integer expression. Raises `Inexpressible`."""
        if isinstance(e, sympy.Add):
            return self._sum(e)
        if isinstance(e, sympy.Mul):
            return self._product(e)
        if isinstance(e, (sympy.Max, sympy.Min)):
            node = tirx.Max if isinstance(e, sympy.Max) else tirx.Min
            return reduce(node, map(self.expr, ordered_arguments(e)))
        if type(e) in _BITWISE:
            return _BITWISE[type(e)](*map(self.expr, e.args))
        if isinstance(e, f.Select):
            condition, a, b = e.args
            # Passes that copy a function (LambdaLift) do not know `if_then_else` in a shape; `Select`
            # evaluates both of its values.
            node = tirx.if_then_else if _may_fail(a) or _may_fail(b) else tirx.Select
            return node(self.condition(condition), self.expr(a), self.expr(b))
        return super().expr(e)

    def condition(self, c: Any) -> Any:
        """A condition, of type bool. Raises `Inexpressible`."""
        if isinstance(c, (And, Or)):
            node = tirx.And if isinstance(c, And) else tirx.Or
            return reduce(node, map(self.condition, ordered_conditions(c)))
        if isinstance(c, (sympy.Eq, sympy.Ne)):
            node = tirx.EQ if isinstance(c, sympy.Eq) else tirx.NE
            return node(*map(self.expr, relation_sides(c)))
        return super().condition(c)

    def _sum(self, e: Any) -> Any:
        first, *rest = ordered_terms(e)
        total = self.expr(first)
        for term in rest:
            taken_away = term.as_coeff_Mul()[0] < 0
            node = tirx.Sub if taken_away else tirx.Add
            total = node(total, self.expr(-term if taken_away else term))
        return total

    def _product(self, e: Any) -> Any:
        coefficient, rest = e.as_coeff_Mul()
        factors = list(map(self.expr, ordered_factors(rest)))
        # Where TVM's own operators put the constant: what is printed reads back the same.
        return reduce(tirx.Mul, factors if coefficient == 1 else [*factors, self.expr(coefficient)])
