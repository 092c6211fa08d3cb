"""Which conditions a program can check at run time."""

from __future__ import annotations

from collections.abc import Iterable

import sympy
from sympy.logic.boolalg import And, Boolean

from relax_lint.fixes.text.tvmscript import MAX_LENGTH, NotWritableError, script_condition, script_expr
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.domain import INT64_MAX, Domain
from relax_lint.symbolic.printing import condition_text

_DIVISIONS = (f.FloorDiv, f.FloorMod, f.TruncDiv, f.TruncMod)


def conjuncts(condition: Boolean) -> tuple[Boolean, ...]:
    """The parts that must all hold, in a fixed order."""
    return tuple(sorted(And.make_args(condition), key=str))


def check_title(conditions: Iterable[Boolean]) -> str:
    """What a remedy that inserts checks of the conditions is called."""
    return f"check `{condition_text(And(*conditions))}` at run time"


def is_writable(condition: Boolean) -> bool:
    """Whether TVMScript can say it on a line, and it can be evaluated whatever the symbols are."""
    try:
        return _is_harmless(condition, script_condition(condition))
    except NotWritableError:
        return False


def is_writable_size(extent: sympy.Expr) -> bool:
    """The same of the size of a storage."""
    if extent.is_Integer:
        return bool(0 <= extent <= INT64_MAX)
    try:
        return _is_harmless(extent, script_expr(extent))
    except NotWritableError:
        return False


def _is_harmless(what: sympy.Basic, text: str) -> bool:
    divisors = (call.args[1] for call in what.atoms(*_DIVISIONS))
    return len(text) <= MAX_LENGTH and all(d.is_Integer and d != 0 for d in divisors)


def is_exact(condition: Boolean, domain: Domain, max_extent: int) -> bool:
    """Whether the 64-bit arithmetic of the VM, which wraps around, evaluates it right: products of extents
    are assumed to be at most `max_extent`, as for RLX103, and nothing is taken of free symbols.
    """
    sides = (side for relation in condition.atoms(sympy.core.relational.Relational) for side in relation.args)
    return all(_magnitude(side, domain, max_extent) <= INT64_MAX for side in sides)


def _magnitude(expr: sympy.Expr, domain: Domain, max_extent: int) -> int:
    """The largest absolute value, on the way to it too."""
    if expr.is_Integer:
        return abs(int(expr))
    if expr.is_Symbol:
        return INT64_MAX if expr in domain.free else max_extent
    if isinstance(expr, sympy.Add):
        return sum(_magnitude(term, domain, max_extent) for term in expr.args)
    if isinstance(expr, sympy.Mul | sympy.Pow):
        coefficient, rest = expr.as_coeff_Mul()
        if not rest.free_symbols & domain.free:
            return abs(int(coefficient)) * max_extent
        size = abs(int(coefficient))
        for factor in sympy.Mul.make_args(rest):
            base, exponent = factor.as_base_exp()
            size *= _magnitude(base, domain, max_extent) ** int(exponent)
        return size
    return max((_magnitude(argument, domain, max_extent) for argument in expr.args), default=INT64_MAX + 1)
