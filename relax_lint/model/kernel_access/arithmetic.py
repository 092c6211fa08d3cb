"""Arithmetic and truths of a kernel: integers as polynomials, truths as conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from relax_lint.model.kernel_access import conditions as c
from relax_lint.model.kernel_access.atoms import INT64, Option, is_within, span_of
from relax_lint.model.kernel_access.conditions import Condition
from relax_lint.model.kernel_access.conversions import rounded_up_logarithm
from relax_lint.model.kernel_access.few_bits import FewBits, Value
from relax_lint.model.kernel_access.polynomials import ZERO, Poly, constant
from relax_lint.vm import versions

UNREAD = c.Unread("it is under a condition that depends on data")
WRAPPED = c.Unread("arithmetic in few bits in a condition may wrap around")
_INT32 = 2**31
_NARROW = -_INT32, _INT32 - 1
_INT8 = 2**7
_SHIFTS = 63


class Arithmetic(FewBits):
    """Reads operations on integers and truths."""

    def value(self, node: Any) -> Value:
        """What an expression is worth."""
        raise NotImplementedError

    def number(self, node: Any) -> Poly | None:
        """An integer; None for what cannot be expressed. A truth is 0 or 1."""
        return self._as_number(self.value(node))

    def _as_number(self, found: Value) -> Poly | None:
        if isinstance(found, Poly) or found is None:
            return found
        if isinstance(found, bool):
            return constant(int(found))
        if isinstance(found, c.Unread):
            return self.terms.opaque("truth", (0, 1))
        options = (Option(found, constant(1)), Option(c.negated(found), ZERO))
        return self.terms.choice(options)

    def condition(self, node: Any) -> Condition:
        """A truth; an integer counts as true when it is not zero."""
        found = self.value(node)
        if isinstance(found, Poly):
            return c.negated(c.equal(found, ZERO))
        return UNREAD if found is None else found

    def guard(self, node: Any) -> Condition:
        """A condition that decides what is done."""
        found = self.settled(node, self.condition)
        # Whatever may wrap around, a truth stays one.
        assert found is not None
        assert not isinstance(found, Poly)
        return found

    def settled(self, node: Any, read: Callable[[Any], Value] | None = None) -> Value:
        """What an expression is worth; what is only so if nothing wraps around in 32 bits is not known."""
        read = read or self.value
        around, self.wraps = self.wraps, []
        found = self.settled_again(node, read(node), read)
        self.wraps = around
        return found

    def settled_again(self, node: Any, found: Value, read: Callable[[Any], Value]) -> Value:
        """The same of what was read just before."""
        if not self.may_wrap():
            return found
        before, self.is_careful = self.is_careful, True
        found = read(node)
        self.is_careful = before
        if isinstance(found, Poly):
            self.narrow(found, node)
        return self.unless_wrapped(found)

    def unless_wrapped(self, found: Value) -> Value:
        """What was read last, if nothing wraps around there."""
        wraps = tuple(self.wraps)
        return self._wrapped((found, *wraps)) if self.may_wrap() and isinstance(found, Poly) else found

    def _wrapped(self, values: Sequence[Poly]) -> Poly:
        """Any number of 32 bits, that some values become: no compiler takes account of that."""
        found = self.terms.opaque("wrapped", _NARROW)
        self.unsure |= found.atoms()
        self.cut(found, values)
        if self.is_from_data(values):
            self.terms.from_data |= found.atoms()
        return found

    @contextmanager
    def under(self, *conditions: Condition) -> Iterator[None]:
        """What is read inside is done only where the conditions hold."""
        before, regions = self.facts, self.regions
        more = [found for found in conditions if found is not True]
        self.regions = (*regions, self.region()) if more else regions
        self.facts = (*before, *more)
        yield
        self.facts, self.regions = before, regions

    @contextmanager
    def _beside(self, first: Condition) -> Iterator[None]:
        """What is read inside is done where a condition holds, and on some targets elsewhere too."""
        before, self.sides = self.sides, (*self.sides, first)
        with self.under(c.BOTH_SIDES):
            yield
        self.sides = before

    def _pair(self, node: Any) -> tuple[Poly, Poly] | None:
        a, b = self.number(node.a), self.number(node.b)
        return None if a is None or b is None else (a, b)

    def _checked_pair(self, node: Any) -> tuple[Poly, Poly] | None:
        """Two operands of what makes a difference when 32-bit arithmetic has wrapped before."""
        pair = self._pair(node)
        return None if pair is None else (self.narrow(pair[0], node.a), self.narrow(pair[1], node.b))

    def _of_sure(self, node: Any, operation: Callable[[Poly, Poly], Value]) -> Value:
        """What compilers simplify as if nothing wrapped around: they take `max(i * c, 0)` for `i * c`, which
        is negative where it has. What is made so of such a number may be any.
        """
        pair = self._checked_pair(node)
        if pair is None:
            return None
        return self._wrapped(pair) if self.is_unsure(pair) else operation(*pair)

    def _left_of(self, node: Any, operation: Callable[[Poly, Poly], Value]) -> Value:
        """A remainder is below its divisor also where 32 bits may not hold what is divided. In fewer bits TVM
        may leave it out, or take what is divided for a number that is not negative.
        """
        pair = self._checked_pair(node)
        if pair is None:
            return None
        return self._wrapped(pair) if self.is_cut(pair) else operation(*pair)

    def _add(self, node: Any) -> Value:
        pair = self._pair(node)
        return None if pair is None else pair[0] + pair[1]

    def _subtract(self, node: Any) -> Value:
        pair = self._pair(node)
        return None if pair is None else pair[0] - pair[1]

    def _multiply(self, node: Any) -> Value:
        pair = self._pair(node)
        return None if pair is None else pair[0] * pair[1]

    def _floor_div(self, node: Any) -> Value:
        return self._of_sure(node, self.terms.quotient)

    def _floor_mod(self, node: Any) -> Value:
        return self._left_of(node, self.terms.remainder)

    def _trunc_div(self, node: Any) -> Value:
        return self._of_sure(node, self._toward_zero)

    def _toward_zero(self, a: Poly, d: Poly) -> Value:
        if d.is_constant and d.constant < 0:
            a, d = -a, -d
        quotient = self.terms.quotient(a, d)
        if quotient is None or self.terms.is_not_negative(a):
            return quotient
        opposite = self.terms.quotient(-a, d)
        assert opposite is not None
        return self._by_sign(a, quotient, -opposite)

    def _trunc_mod(self, node: Any) -> Value:
        return self._left_of(node, self._left_toward_zero)

    def _left_toward_zero(self, a: Poly, d: Poly) -> Value:
        if d.is_constant and d.constant < 0:
            # The sign of what is left is that of the dividend.
            d = -d
        rest = self.terms.remainder(a, d)
        if rest is None or self.terms.is_not_negative(a):
            return rest
        opposite = self.terms.remainder(-a, d)
        assert opposite is not None
        return self._by_sign(a, rest, -opposite)

    def _by_sign(self, a: Poly, positive: Poly, negative: Poly) -> Poly:
        sign = c.at_least_zero(a)
        return self.terms.choice((Option(sign, positive), Option(c.negated(sign), negative)))

    def _least(self, node: Any) -> Value:
        return self._of_sure(node, lambda *pair: self._extreme(pair, "min"))

    def _greatest(self, node: Any) -> Value:
        return self._of_sure(node, lambda *pair: self._extreme(pair, "max"))

    def _extreme(self, pair: tuple[Poly, Poly], which: str) -> Value:
        a, b = pair if which == "max" else pair[::-1]
        # Now a is the result where a >= b, for both.
        room = a - b
        first, second = pair
        if self.terms.is_not_negative(room):
            return first
        if self.terms.is_not_negative(-room):
            return second
        larger, smaller = c.at_least_zero(room), c.at_least_zero(-room)
        return self.terms.choice((Option(larger, first), Option(smaller, second)), which)

    def _shift_left(self, node: Any) -> Value:
        pair = self._pair(node)
        if pair is None:
            return None
        power = self._power_of_two(pair[1], node)
        return None if power is None else pair[0] * power

    def _shift_right(self, node: Any) -> Value:
        return self._of_sure(node, lambda a, exponent: self._halved(a, exponent, node))

    def _halved(self, a: Poly, exponent: Poly, node: Any) -> Value:
        power = self._power_of_two(exponent, node)
        return None if power is None else self.terms.quotient(a, power)

    def _power_of_two(self, exponent: Poly, node: Any) -> Poly | None:
        """Two to the power of an exponent, if that is no larger than the type of a shift allows."""
        if exponent.is_constant:
            return constant(2**exponent.constant) if 0 <= exponent.constant <= _SHIFTS else None
        bits, _ = versions.dtype_bits(str(node.a.ty.dtype))
        return self.terms.power(exponent, bits - 2)

    def _bit_and(self, node: Any) -> Value:
        return self._bits(node, c.every)

    def _bit_or(self, node: Any) -> Value:
        return self._bits(node, c.any_of)

    def _bit_xor(self, node: Any) -> Value:
        return self._bits(node, lambda _: UNREAD)

    def _bits(self, node: Any, join: Callable[[tuple[Condition, ...]], Condition]) -> Value:
        left, right = self.value(node.a), self.value(node.b)
        return self.cut(self._bits_of(node, left, right, join), (left, right))

    def _bits_of(
        self, node: Any, left: Value, right: Value, join: Callable[[tuple[Condition, ...]], Condition]
    ) -> Value:
        if left is None or right is None:
            return None
        if not isinstance(left, Poly) and not isinstance(right, Poly):
            return join((left, right))
        if not isinstance(left, Poly) or not isinstance(right, Poly):
            return None
        masks = join is c.every
        if masks:
            for value, mask in ((left, right), (right, left)):
                if mask.is_constant and mask.constant >= 0 and not mask.constant & (mask.constant + 1):
                    return self.terms.remainder(value, constant(mask.constant + 1))
        left, right = self.narrow(left, node.a), self.narrow(right, node.b)
        (low, high), (other_low, other_high) = self.terms.span(left), self.terms.span(right)
        if low is None or low < 0 or other_low is None or other_low < 0:
            return None
        if high is None or other_high is None:
            return self.terms.opaque("bits", (0, None))
        if masks:
            return self.terms.opaque("bits", (0, min(high, other_high)))
        return self.terms.opaque("bits", (0, 2 ** max(high, other_high).bit_length() - 1))

    def _bit_not(self, node: Any) -> Value:
        found = self.value(node.a)
        if isinstance(found, Poly):
            return (-found).shift(-1)
        return None if found is None else c.negated(found)

    def _cast(self, node: Any) -> Value:
        found = self.value(node.value)
        target = str(node.ty.dtype)
        if target == "bool":
            return c.negated(c.equal(found, ZERO)) if isinstance(found, Poly) else found
        span = span_of(target)
        if span is None:
            return None
        if found is None:
            whole = rounded_up_logarithm(node.value)
            if whole is not None:
                return constant(whole)
            return self.conversions.of(node, self.moment_of, lambda: self.terms.opaque("converted", span))
        value = self._as_number(found)
        assert value is not None
        value = self.narrow(value, node.value)
        low, high = self.terms.span(value)
        source = span_of(str(node.value.ty.dtype)) or (None, None)
        if is_within(span, source) or is_within(span, (low, high)):
            if span[0] is None and (high or 0) >= INT64:
                self.unsigned |= value.atoms()
            return value
        if span[0] == -_INT32:
            return self._wrap(value, cast=True)
        found = self.terms.opaque("narrowed", span)
        # What may be any number TVM takes for any number of the type.
        return self.cut(found, (value,)) if is_within((low, high), span) else self.leave_unsure(found)

    def fitting(self, found: Value, node: Any) -> Value:
        """A value of a type of less than 32 bits, or without a sign, in which arithmetic may wrap around."""
        if not isinstance(found, Poly):
            return found
        low, high = self.terms.span(found)
        if low is not None and low >= 0 and high is not None and high < _INT8:
            return found
        dtype = str(getattr(node.ty, "dtype", ""))
        if dtype.startswith(("int32", "int64")):
            return found
        span = span_of(dtype)
        if span is not None and not is_within(span, (low, high)):
            return self.leave_unsure(self.terms.opaque("wrapped", span))
        return found

    def _ramp(self, node: Any) -> Value:
        base, stride, lanes = self.number(node.base), self.number(node.stride), self.number(node.lanes)
        if base is None or stride is None or lanes is None:
            return None
        lane = self.lane(lanes)
        return base + stride * lane

    def _broadcast(self, node: Any) -> Value:
        self.value(node.lanes)
        return self.value(node.value)

    def _relation(self, node: Any) -> Value:
        left, right = self.value(node.a), self.value(node.b)
        kind = type(node).__name__
        if isinstance(left, Poly) and isinstance(right, Poly):
            if self.is_cut((left, right)):
                return WRAPPED
            return RELATIONS[kind](self.narrow(left, node.a), self.narrow(right, node.b))
        if left is None or right is None or isinstance(left, Poly) or isinstance(right, Poly):
            return UNREAD
        same = c.any_of((c.every((left, right)), c.every((c.negated(left), c.negated(right)))))
        return {"EQ": same, "NE": c.negated(same)}.get(kind, UNREAD)

    def _and(self, node: Any) -> Value:
        first = self.condition(node.a)
        with self._beside(first):
            second = self.condition(node.b)
        return c.every((first, second))

    def _or(self, node: Any) -> Value:
        first = self.condition(node.a)
        with self._beside(c.negated(first)):
            second = self.condition(node.b)
        return c.any_of((first, second))

    def _not(self, node: Any) -> Value:
        return c.negated(self.condition(node.a))

    def narrow(self, value: Poly, node: Any, *, final: bool = False) -> Poly:
        """An integer that must not wrap around in 32 bits; any number where nobody may rely on that."""
        if not final and not self.unsigned.isdisjoint(value.atoms()) and str(node.ty.dtype).startswith("int"):
            return self.terms.opaque("wrapped")
        if value.single() is not None:
            return value
        low, high = self.terms.span(value)
        if low is not None and high is not None and low >= -_INT32 and high < _INT32:
            return value
        if str(node.ty.dtype).startswith("int64") and not final:
            if (low or 0) < -INT64 or (high or 0) >= INT64:
                return self.terms.opaque("wrapped")
            self.wide[value] = None
        if final and low is None and high is None:
            return value
        return self._wrap(value) if str(node.ty.dtype).startswith("int32") else value

    def _wrap(self, value: Poly, *, cast: bool = False) -> Poly:
        """A value that may wrap around: what depends on it has to show that it does not."""
        if not self.is_careful:
            self.wraps.append(value)
            return value
        if not self.wraps_around((value,)):
            return value
        found = self._wrapped((value,))
        if cast and not self.is_unsure((value,)):
            self.unsure -= found.atoms()
        return found


RELATIONS: dict[str, Callable[[Poly, Poly], Condition]] = {
    "EQ": c.equal,
    "NE": lambda a, b: c.negated(c.equal(a, b)),
    "LT": lambda a, b: c.at_least_zero((b - a).shift(-1)),
    "LE": lambda a, b: c.at_least_zero(b - a),
    "GT": lambda a, b: c.at_least_zero((a - b).shift(-1)),
    "GE": lambda a, b: c.at_least_zero(a - b),
}
