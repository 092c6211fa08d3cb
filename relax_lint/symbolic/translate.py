"""TVM's primitive expressions as sympy expressions, exactly or not at all.

Integers are unbounded here: an addition that would wrap around in 64 bits is translated as the
mathematical sum. Only a narrowing cast, which truncates on purpose, keeps its wrap-around.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy.logic.boolalg import And, Boolean, Not, Or

from relax_lint.symbolic import functions as f
from relax_lint.vm.nodes import expression_kind

MAX_SHIFT = 63
MAX_CHOICES = 12
"""How many values the maxima and minima in one expression may choose from: sympy compares each with each, and
each time with all that is inside them.
"""


class Untranslatable(ValueError):
    """The expression has no exact integer meaning here; the message says why."""


def _floor_div(a: Any, b: Any) -> Any:
    return f.FloorDiv(a, _divisor(b))


def _floor_mod(a: Any, b: Any) -> Any:
    return f.FloorMod(a, _divisor(b))


def _trunc_div(a: Any, b: Any) -> Any:
    return f.TruncDiv(a, _divisor(b))


def _trunc_mod(a: Any, b: Any) -> Any:
    return f.TruncMod(a, _divisor(b))


def _divisor(b: Any) -> Any:
    if b == 0:
        raise Untranslatable("division by zero")
    return b


def _shift_left(a: Any, b: Any) -> Any:
    return a * _power_of_two(b)


def _shift_right(a: Any, b: Any) -> Any:
    return f.FloorDiv(a, _power_of_two(b))


def _power_of_two(b: Any) -> Any:
    if not isinstance(b, sympy.Integer) or not 0 <= b <= MAX_SHIFT:
        raise Untranslatable(f"shift by {b}")
    return sympy.Integer(2) ** b


def extreme(kind: Any) -> Callable[[Any, Any], Any]:
    """The larger or the smaller one of two values, by the kind of expression. Raises `Untranslatable` where
    that takes long.
    """

    def choose(a: Any, b: Any) -> Any:
        inside = a.atoms(sympy.Max, sympy.Min) | b.atoms(sympy.Max, sympy.Min)
        if 2 + sum(len(one.args) for one in inside) > MAX_CHOICES:
            raise Untranslatable(f"a maximum or minimum over more than {MAX_CHOICES} values")
        return kind(a, b)

    return choose


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "FloorDiv": _floor_div,
    "FloorMod": _floor_mod,
    "Div": _trunc_div,
    "Mod": _trunc_mod,
    "Min": extreme(sympy.Min),
    "Max": extreme(sympy.Max),
    "LShift": _shift_left,
    "RShift": _shift_right,
    "BitwiseAnd": f.BitAnd,
    "BitwiseOr": f.BitOr,
    "BitwiseXor": f.BitXor,
}
_RELATIONS: dict[str, Any] = {
    "EQ": sympy.Eq,
    "NE": sympy.Ne,
    "LT": sympy.Lt,
    "LE": sympy.Le,
    "GT": sympy.Gt,
    "GE": sympy.Ge,
}
_WRAPS = frozenset({"Add", "Sub", "Mul", "LShift"})
_OF_WIDER_OPERAND = frozenset({"Add", "Sub", "Mul", "FloorDiv", "FloorMod", "Min", "Max"})
_NARROW = {"int8": 8, "int16": 16, "int32": 32}
_WIDEST = frozenset({"int64", "uint64"})
_WRAPS_WHEN_UNSIGNED = frozenset({"Add", "Sub", "Mul", "LShift", "BitwiseNot"})


class Translator:
    """Translates expressions of one function; each node object is translated once.

    `symbol_of` gives the `sympy.Symbol(name, integer=True)` of a TVM variable. Node classes are
    recognised by their names, which TVM kept when it moved them between modules. `load` gives the
    value of a load from a buffer (the shape heap of lowered modules); without it loads are untranslatable.
    `fits` says whether what arithmetic in less than 64 bits comes to is a number of so many bits; without it
    that is taken for granted. `range_of` gives the smallest and the largest value that an expression has
    whatever the symbols are, or None: what is cast to fewer bits has to fit, or to be any number.
    `held_range_of` is the same where symbols may be beyond the range of their types.
    `wide_variables`: each variable is one of 64 bits whatever its type says, as the slots of the shape heap
    are, and so is what is computed with it.
    """

    def __init__(
        self,
        symbol_of: Callable[[Any], sympy.Symbol],
        load: Callable[[Any], sympy.Expr] | None = None,
        fits: Callable[[sympy.Expr, int], bool] | None = None,
        range_of: Callable[[sympy.Expr], tuple[int, int] | None] | None = None,
        held_range_of: Callable[[sympy.Expr], tuple[int, int] | None] | None = None,
        *,
        wide_variables: bool = False,
    ) -> None:
        self._symbol_of = symbol_of
        self._load = load
        self.fits = fits
        self.range_of = range_of
        self.held_range_of = held_range_of or range_of
        self._wide_variables = wide_variables
        # Keyed by the address of the C++ node; the node is kept too, so that the address stays its own.
        self._expressions: dict[int, tuple[Any, Any]] = {}
        self._conditions: dict[int, tuple[Any, Boolean]] = {}

    def expr(self, e: Any) -> sympy.Expr:
        """The integer value of `e`. Raises `Untranslatable`."""
        if isinstance(e, int):
            return sympy.Integer(e)
        if type(e).__name__ == "IntImm":
            # Read as fast as it is found, and most extents are one of its own.
            return sympy.Integer(int(e.value))
        address = e.__chandle__()
        known = self._expressions.get(address)
        if known is None:
            known = self._expressions[address] = (e, self._expr(e))
        return known[1]

    def condition(self, e: Any) -> Boolean:
        """The truth of `e`; an integer counts as true when it is not zero. Raises `Untranslatable`."""
        if isinstance(e, bool):
            return sympy.true if e else sympy.false
        address = e.__chandle__()
        known = self._conditions.get(address)
        if known is None:
            known = self._conditions[address] = (e, self._condition(e))
        return known[1]

    def define(self, var: Any, value: Any) -> None:
        """From now on `var` means `value` (a scalar binding); it stays a symbol if that is not exact."""
        try:
            self.know(var, self.condition(value) if _dtype(value) == "bool" else self.expr(value))
        except Untranslatable:
            return

    def know(self, var: Any, value: sympy.Basic) -> None:
        """From now on `var` means a known value: a condition where its type is bool."""
        # A sympy symbol is both; here it is an integer.
        known = self._expressions if isinstance(value, sympy.Expr) else self._conditions
        known[var.__chandle__()] = (var, value)

    def _expr(self, e: Any) -> Any:
        kind, operands = _node(e)
        if kind == "BufferLoad" and self._load is not None:
            return self._load(e)
        if kind == "IntImm":
            return sympy.Integer(int(e.value))
        type_name = _dtype(e)
        if kind == "Var":
            if not type_name.startswith(("int", "uint")):
                raise Untranslatable(f"{e} is {type_name}, not an integer")
            return self._symbol_of(e)
        if type_name == "bool":
            return f.Select(self.condition(e), sympy.Integer(1), sympy.Integer(0))
        if not type_name.startswith(("int", "uint")):
            raise Untranslatable(f"{e} is {type_name}, not an integer")
        if type_name.startswith("uint") and kind in _WRAPS_WHEN_UNSIGNED and not self._is_wide(e):
            raise Untranslatable(f"unsigned arithmetic wraps around: {e}")
        if kind in _BINARY:
            found = _BINARY[kind](self.expr(operands[0]), self.expr(operands[1]))
            if kind in _WRAPS and type_name in _NARROW and not self._is_wide(e):
                self._must_fit(found, _NARROW[type_name])
            return found
        if kind == "BitwiseNot":
            return -self.expr(operands[0]) - 1
        if kind == "Select":
            condition, a, b = operands
            return f.Select(self.condition(condition), self.expr(a), self.expr(b))
        if kind == "Cast":
            return self._cast(self.expr(e.value), _dtype(e.value), type_name)
        raise Untranslatable(f"{kind} has no exact integer meaning here: {e}")

    def _must_fit(self, value: sympy.Expr, bits: int) -> None:
        if self.fits is not None and not self.fits(value, bits):
            raise Untranslatable(f"arithmetic in {bits} bits may wrap around")

    def _is_held(self, value: sympy.Expr, target: str) -> bool:
        """Whether a type holds a value, as far as what is told of arithmetic tells."""
        low, high = range_of_type(target)
        return self.fits is None or self.fits(value - low - (high - low + 1) // 2, (high - low).bit_length())

    def _is_wide(self, e: Any) -> bool:
        """Whether the virtual machine computes something in 64 bits although its type has fewer."""
        kind, operands = _node(e)
        if kind == "Var":
            return self._wide_variables
        return kind in _OF_WIDER_OPERAND and any(map(self._is_wide, operands))

    def _cast(self, value: sympy.Expr, source: str, target: str) -> sympy.Expr:
        """What a cast comes to. TVM's analyzer takes a number that it knows to be in some range for one in
        the part of it that the target holds, although a cast takes the low bits: it leaves the maximum out of
        `max(int8(n % 256), 0)`. Only of what may be any number of the target it takes nothing for granted.
        Nothing keeps a scalar in the range of its own type, nor so what a cast to a wider one makes of it.
        """
        result = _cast(value, source, target)
        if source == "bool" or self.range_of is None or self.held_range_of is None:
            if result is not value and not self._is_held(value, target):
                raise Untranslatable(f"a cast to {target} may wrap around")
            return value if self.fits is not None else result
        (low, high), held = range_of_type(target), self.held_range_of(value)
        fits = held is not None and low <= held[0] <= held[1] <= high
        if fits or (result is value and target in _WIDEST):
            return value
        result, found = _low_bits(value, low, high), self.range_of(value)
        if found is None or not (found[0] <= low and high <= found[1]):
            raise Untranslatable(f"a cast to {target} may wrap around")
        return result

    def _condition(self, e: Any) -> Boolean:
        kind, operands = _node(e)
        if kind == "IntImm":
            return sympy.true if int(e.value) else sympy.false
        if kind in _RELATIONS:
            a, b = operands
            if _dtype(a) == "bool":
                return self._compare_truths(kind, a, b)
            return _RELATIONS[kind](self.expr(a), self.expr(b))
        if _dtype(e) != "bool":
            return sympy.Ne(self.expr(e), 0)
        if kind == "Not":
            return Not(self.condition(e.a))
        if kind in ("And", "BitwiseAnd"):
            return And(*map(self.condition, operands))
        if kind in ("Or", "BitwiseOr"):
            return Or(*map(self.condition, operands))
        if kind == "BitwiseXor":
            return self._compare_truths("NE", *operands)
        if kind == "BitwiseNot":
            return Not(self.condition(operands[0]))
        if kind == "Select":
            condition, a, b = map(self.condition, operands)
            return Or(And(condition, a), And(Not(condition), b))
        if kind == "Cast":
            return self.condition(e.value)
        raise Untranslatable(f"{kind} has no exact meaning as a condition: {e}")

    def _compare_truths(self, kind: str, a: Any, b: Any) -> Boolean:
        left, right = self.condition(a), self.condition(b)
        if kind == "EQ":
            return Or(And(left, right), And(Not(left), Not(right)))
        if kind == "NE":
            return Or(And(left, Not(right)), And(Not(left), right))
        raise Untranslatable(f"truth values compared with {kind}")


def _node(e: Any) -> tuple[str, tuple[Any, ...]]:
    """The kind of node under its 0.27 name, and its operands."""
    kind = expression_kind(e)
    if type(e).__name__ == "Call":
        return kind, tuple(e.args)
    if kind == "Select":
        return kind, (e.condition, e.true_value, e.false_value)
    if kind in _BINARY or kind in _RELATIONS or kind in ("And", "Or"):
        return kind, (e.a, e.b)
    if kind == "BitwiseNot":
        return kind, (e.a,)
    return kind, ()


def _dtype(e: Any) -> str:
    dtype = getattr(e.ty, "dtype", None)
    if dtype is None:
        raise Untranslatable("it is not a number")
    return str(dtype)


def _cast(value: Any, source: str, target: str) -> Any:
    """The exact result of a cast between integer types: the value itself where the target holds all
    values of the source, else its low bits.
    """
    if source == "bool":
        return value
    (low, high), (least, most) = range_of_type(target), range_of_type(source)
    if low <= least and most <= high:
        return value
    return _low_bits(value, low, high)


def _low_bits(value: Any, low: int, high: int) -> Any:
    return f.FloorMod(value - low, sympy.Integer(high - low + 1)) + low


def range_of_type(dtype: str) -> tuple[int, int]:
    """Smallest and largest value of an integer type. Raises `Untranslatable` for any other."""
    signed = dtype.startswith("int")
    digits = dtype[3:] if signed else dtype[4:]
    if not digits.isdigit():
        raise Untranslatable(f"cast from or to {dtype}")
    bits = int(digits)
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
