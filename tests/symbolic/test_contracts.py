"""What the parts of the provers promise at their ends: what has no value, no form or no bound, and what is empty."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
import sympy
from sympy.logic.boolalg import And, Or
from tvm import tirx

from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.formula import to_formula
from relax_lint.symbolic.functions import FloorDiv, FloorMod, Select
from relax_lint.symbolic.intervals import Bounds
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.links import Links
from relax_lint.symbolic.parsing import ParseError, parse_condition, parse_expr
from relax_lint.symbolic.polynomial import (
    MAX_PRODUCTS,
    MAX_TERMS,
    NotPolynomial,
    Polynomial,
    to_polynomial,
)
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.regions import MAX_PIECES, safe_region
from relax_lint.symbolic.search import QUICK
from relax_lint.symbolic.standard import standard
from relax_lint.symbolic.translate import MAX_SHIFT, Translator, Untranslatable, range_of_type
from relax_lint.symbolic.univariate import solve
from relax_lint.symbolic.wrapping import may_wrap

N, M, K = SYMBOLS = sympy.symbols("n m k", integer=True)
REAL = sympy.Symbol("r", real=True)
UNKNOWN = sympy.Function("g", integer=True)(N)


def facts(*conditions: Any, kind: FactKind = FactKind.ENFORCED) -> tuple[Fact, ...]:
    return tuple(Fact(one, kind, str(one)) for one in conditions)


# -- domains -----------------------------------------------------------------------------------


def test_a_part_of_an_empty_domain_is_empty() -> None:
    empty = Domain((N, M), facts(N >= 5, N <= 3))
    part = empty.with_facts(facts(M >= 1))
    chain = ProverChain()
    assert chain.is_empty(empty)
    assert chain.is_empty(part)
    assert ProverChain().is_empty(part)
    assert not chain.is_empty(Domain((N, M), facts(N >= 3, N <= 5)).with_facts(facts(M >= 1)))


@pytest.mark.parametrize("known_first", [True, False])
def test_a_part_of_a_domain_may_speak_of_another_symbol(known_first: bool) -> None:
    """`k` is no symbol of the domain: it may be any integer of 64 bits."""
    more = (sympy.Ge(N, 2), sympy.Ge(K, 5))
    part = Domain((N, M), facts(N >= 1)).with_facts(facts(*(more if known_first else more[::-1])))
    chain = ProverChain()
    assert chain.entails(part, sympy.Ge(K, 4))
    assert chain.entails(part, sympy.Ge(N + K, 7))
    assert not chain.entails(part, sympy.Ge(K, 6))


@pytest.mark.parametrize(
    ("believed", "enforced", "assumptions"),
    [(True, False, ("0 >= 2",)), (True, True, ()), (False, True, ())],
)
def test_that_nothing_is_reachable_rests_on_what_is_believed_only_where_nothing_else_says_so(
    believed: bool, enforced: bool, assumptions: tuple[str, ...]
) -> None:
    divided = sympy.Ge(FloorDiv(1, 0), 2)
    known = [Fact(divided, FactKind.ASSUMED, "0 >= 2")] if believed else []
    known += [Fact(sympy.false, FactKind.ENFORCED, "false")] if enforced else []
    decision = ProverChain().decide(sympy.Ge(N, 3), Domain((N,), tuple(known)))
    assert (decision.verdict, decision.reachable) == (Verdict.ALWAYS_FINE, False)
    assert tuple(fact.text for fact in decision.assumptions) == assumptions


def test_what_is_assumed_of_other_symbols_is_not_told_with_an_example() -> None:
    """`m <= 9` is about `m`: whatever it is, `n <= 4` holds for some `n` and not for others."""
    domain = Domain((N, M), (*facts(N >= 0, N <= M), *facts(M <= 9, kind=FactKind.ASSUMED)))
    decision = ProverChain().decide(sympy.Le(N, 4), domain)
    assert (decision.verdict, decision.assumptions) == (Verdict.NEEDS_RUNTIME_CHECK, ())
    about = Domain((N, M), (*facts(N >= 0, N <= M), *facts(N <= 9, kind=FactKind.ASSUMED)))
    assert [fact.text for fact in ProverChain().decide(sympy.Le(N, 4), about).assumptions] == ["n <= 9"]


def test_a_member_names_every_symbol_once() -> None:
    domain = Domain((N, M, K), facts(N >= 3, M >= N, M <= 3))
    assert ProverChain().satisfiable(domain) == {"n": 3, "m": 3, "k": 0}


# -- search ------------------------------------------------------------------------------------


def found(symbols: tuple[Any, ...], conditions: tuple[Any, ...], wanted: Any) -> tuple[Any, bool]:
    best = Links(rlimit=0, max_points=0).search(symbols, conditions).smallest(wanted, QUICK)
    return best.point, best.exact


@pytest.mark.parametrize("power", [3, 65])
def test_what_cannot_be_solved_is_tried(power: int) -> None:
    """Of a power above 64 there is no polynomial."""
    one, two = (tuple(b for s in SYMBOLS[:n] for b in (s >= 0, s <= 20)) for n in (1, 2))
    assert found((N,), one, sympy.Ge(N**power, 2**power)) == ((2,), True)
    assert found((N, M), two, sympy.Ge(N**power * M, 3**power)) == ((3, 1), True)


def test_what_is_far_away_is_guessed_at_the_corners() -> None:
    """Sums of up to 100,000 are more than is tried."""
    within = tuple(b for s in (N, M) for b in (s >= 0, s <= 100_000))
    point, exact = found((N, M), within, And(N >= 100_000, M <= 0))
    assert (point, exact) == ((100_000, 0), False)


@pytest.mark.parametrize("low", [0, -2])
def test_where_what_is_solved_has_no_value_there_is_no_member(low: int) -> None:
    """`m` is `12 // n`: of all with `m <= 4` the smallest one is `(3, 4)`, or `(-2, -6)` and none with 0."""
    conditions = (low <= N, N <= 50, sympy.Eq(M, FloorDiv(12, N)))
    points = [(n, 12 // n) for n in range(low, 51) if n]
    for most in (4, 0, -1):
        fine = [p for p in points if p[1] <= most]
        expected = min(fine, key=lambda p: (sum(map(abs, p)), p), default=None)
        assert found((N, M), conditions, sympy.Le(M, most)) == (expected, True)


def test_a_condition_along_a_line_where_what_is_solved_has_no_value() -> None:
    conditions = (*(b for s in (N, K) for b in (s >= 0, s <= 30)), sympy.Eq(M, FloorDiv(12, N)))
    wanted = sympy.Ge(FloorDiv(K, 3) + FloorDiv(M, 2), 9)
    points = [(n, 12 // n, k) for n in range(1, 31) for k in range(31)]
    fine = [p for p in points if p[2] // 3 + p[1] // 2 >= 9]
    expected = min(fine, key=lambda p: (sum(map(abs, p)), p))
    assert found((N, M, K), conditions, wanted)[0] == expected


# -- knowledge ---------------------------------------------------------------------------------


def test_a_fact_may_join_alternatives_and_a_bound() -> None:
    knowledge = Knowledge((N, M), (And(Or(N >= 3, M >= 3), N >= 1, M >= 0),))
    for claim, shown in ((N >= 1, True), (N + M >= 1, True), (N >= 2, False)):
        assert knowledge.proves(knowledge.formula(claim)) is shown


def test_of_a_symbol_that_nobody_knows_nothing_is_shown() -> None:
    knowledge = Knowledge((N,), (N >= 1,))
    assert not knowledge.proves(knowledge.formula(K >= -(2**62)))
    assert Links(rlimit=0, max_points=0).follows((N,), (N >= 1,), sympy.Ge(UNKNOWN, 0)) is False


def test_a_region_of_many_pieces_is_not_told_as_intervals() -> None:
    """Of pieces of one value each only so many are written."""
    for count, told in ((MAX_PIECES, True), (MAX_PIECES + 1, False)):
        claim = Or(*(sympy.Eq(N, 3 * x + 1) for x in range(count)))
        region = safe_region(claim, Knowledge((N,), (N >= 0, N <= 1000)))
        values = [n for n in range(1001) if region is not None and region.subs(N, n) == sympy.true]
        assert (values == [3 * x + 1 for x in range(count)]) or not told


# -- expressions -------------------------------------------------------------------------------


def test_a_quotient_of_a_quotient() -> None:
    rng = random.Random(5)
    for _ in range(300):
        a, b, c, d = (rng.randint(-9, 9) for _ in range(4))
        inner, outer = rng.randint(1, 6), rng.randint(1, 6)
        e = FloorDiv(a * N + b + c * FloorDiv(d * N + M, inner), outer)
        for n, m in product((-7, -1, 0, 3, 8), (-5, 0, 1, 6)):
            expected = (a * n + b + c * ((d * n + m) // inner)) // outer
            assert e.subs({N: n, M: m}) == expected, (a, b, c, d, inner, outer, n, m)
    assert FloorDiv(6 * N + FloorDiv(M, 3), 2) == 3 * N + FloorDiv(M, 6)


def test_polynomials_are_equal_to_polynomials_only() -> None:
    assert Polynomial.constant(3) == Polynomial.constant(3)
    assert Polynomial.constant(3) != 3
    assert Polynomial.constant(3) != to_polynomial(N)


def test_products_that_are_too_large_are_not_expanded() -> None:
    def total(name: str, count: int) -> Polynomial:
        return to_polynomial(sympy.Add(*sympy.symbols(f"{name}:{count}", integer=True)))

    assert MAX_TERMS < MAX_PRODUCTS
    one, side = total("a", 1), int(MAX_TERMS**0.5)
    assert len((total("a", side) * total("b", side)).terms) == side * side
    with pytest.raises(NotPolynomial):
        total("a", side + 1) * total("b", MAX_TERMS // (side + 1) + 1)
    assert len((one * total("b", MAX_TERMS)).terms) == MAX_TERMS
    # However few terms are left, so many products are not made.
    power = to_polynomial(sympy.Add(*(N**x for x in range(64))))
    power = power * power * power
    assert len(power.terms) ** 2 > MAX_PRODUCTS > 2 * len(power.terms)
    with pytest.raises(NotPolynomial):
        _ = power * power


@pytest.mark.parametrize("e", [N**-1, N**M, UNKNOWN])
def test_what_is_no_integer_is_not_evaluated(e: Any) -> None:
    with pytest.raises(TypeError):
        compile_condition(sympy.Ge(e, 0, evaluate=False), (N, M))


@pytest.mark.parametrize("flipped", [False, True])
def test_what_is_false_next_to_what_has_no_value_is_false(flipped: bool) -> None:
    """Whichever part sympy puts first: one of the two forms has the division before the disjunction."""
    divided = sympy.Ge(FloorDiv(6, K), 1)
    either = Or(N < 0, M < 0) if flipped else Or(N < 0, sympy.Lt(FloorDiv(M, 2), 0))
    for condition in (And(divided, either), Or(sympy.Gt(M, 99), And(divided, either))):
        holds = compile_condition(condition, SYMBOLS)
        assert holds(1, 1, 0) is False
        assert holds(-1, 1, 0) is None
        assert holds(-1, 1, 3) is True


@pytest.mark.parametrize(
    "e",
    [
        sympy.floor(N / REAL, evaluate=False),
        sympy.floor(REAL / 2),
        sympy.Piecewise((REAL, N > 0), (M, True)),
        sympy.Piecewise((M, N > 0), (REAL, True)),
        sympy.Piecewise((M, N > 0), (N, M > 0)),
    ],
    ids=str,
)
def test_what_is_not_about_integers_stays_as_it_is(e: Any) -> None:
    assert standard(e) == e


def test_what_is_about_integers_has_a_standard_form() -> None:
    assert standard(sympy.Piecewise((M, N > 0), (N, True))) == Select(N > 0, M, N)
    relation = standard(sympy.Le(N / 2, M + sympy.Rational(1, 3)))
    for n, m in product(range(-4, 5), repeat=2):
        assert (relation.subs({N: n, M: m}) == sympy.true) is (3 * n <= 6 * m + 2)


def test_a_choice_is_solved_wherever_it_is_made() -> None:
    """Of each value every stretch where it is the chosen one."""
    choice = Select(Or(N < 3, N > 7), N - 9, 2 - N)
    found = solve(to_formula(sympy.Ge(choice, -4)), N, (0, 20))
    assert found is not None
    inside = {x for low, high in found for x in range(low, high + 1)}
    assert inside == {n for n in range(21) if (n - 9 if n < 3 or n > 7 else 2 - n) >= -4}
    assert solve(to_formula(sympy.Ge(FloorDiv(N * N, 2), FloorDiv(M, 2))), N, (0, 20)) is None
    other = solve(to_formula(sympy.Ge(FloorDiv(N, 2) + FloorDiv(N + M, 3), 2)), N, (0, 20))
    assert other is None


def test_bounds_are_those_of_the_operation() -> None:
    assert Bounds({N: (0, 9)}).atom(FloorDiv(N, 2)) == (0, 4)
    assert Bounds({N: (0, 9)}).atom(FloorMod(N, 2)) == (0, 1)
    assert Bounds({}).atom(N) == (-(2**63), 2**63 - 1)


# -- texts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+n", N),
        ("-(+n)", -N),
        ("min(n)", N),
        ("Max(n, m, 3)", sympy.Max(N, M, 3)),
        ("FloorDiv(n, 2)", FloorDiv(N, 2)),
        ("Piecewise((n, n > 0), (m, m > 0), (3, True))", Select(N > 0, N, Select(M > 0, M, 3))),
    ],
)
def test_expressions_that_are_read(text: str, expected: Any) -> None:
    assert parse_expr(text, {"n": N, "m": M}) == expected


@pytest.mark.parametrize(
    "text", ["True", "f(n)", "min()", "FloorDiv(n)", "FloorDiv(n, m, 2)", "n + True", "x", "n / 2", "min(*n)"]
)
def test_expressions_that_are_not_read(text: str) -> None:
    with pytest.raises(ParseError):
        parse_expr(text, {"n": N, "m": M})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", sympy.true),
        ("false", sympy.false),
        ("true and n > 0", N > 0),
        ("0 < n <= m < 9", And(sympy.Lt(0, N), N <= M, M < 9)),
        ("Eq(n, 3)", sympy.Eq(N, 3)),
        ("Ne(n, 3) | (m > 4)", Or(sympy.Ne(N, 3), M > 4)),
    ],
)
def test_conditions_that_are_read(text: str, expected: Any) -> None:
    assert parse_condition(text, {"n": N, "m": M}) == expected


@pytest.mark.parametrize("text", ["n", "n is m", "0 < n in m", "n in (m,)", "true", "Eq(n)", "Lt(n, m)"])
def test_conditions_that_are_not_read(text: str) -> None:
    """`true` is no condition where it is the name of a symbol."""
    with pytest.raises(ParseError):
        parse_condition(text, {"n": N, "m": M, "true": K})


def test_a_power_of_a_symbol_comes_after_what_is_plain() -> None:
    assert expr_text(N**M + N) == "n + n**m"
    assert expr_text(N**M + N**2) == "n**2 + n**m"


# -- what TVM's expressions mean ----------------------------------------------------------------

X, Y = tirx.Var("n", "int64"), tirx.Var("m", "int64")
TRUTH = tirx.Var("truth", "bool")


def translator(**options: Any) -> Translator:
    return Translator(lambda var: sympy.Symbol(var.name, integer=True), **options)


@pytest.mark.parametrize(
    ("bits", "known"), [(-1, False), (0, True), (MAX_SHIFT, True), (MAX_SHIFT + 1, False)]
)
@pytest.mark.parametrize("left", [True, False])
def test_a_shift_by_a_number_of_bits(bits: int, known: bool, left: bool) -> None:
    one, e = translator(), X << Y if left else X >> Y
    one.know(Y, sympy.Integer(bits))
    if not known:
        with pytest.raises(Untranslatable):
            one.expr(e)
        return
    assert one.expr(e).subs(N, 2**62 + 5) == ((2**62 + 5) << bits if left else (2**62 + 5) >> bits)


def test_a_shift_by_a_symbol_is_not_known() -> None:
    with pytest.raises(Untranslatable):
        translator().expr(X << Y)


@pytest.mark.parametrize("value", [-129, -128, -1, 127, 128, 300])
def test_a_cast_of_a_number_keeps_its_low_bits(value: int) -> None:
    e = tirx.Cast("int8", tirx.IntImm("int32", value))
    assert translator().expr(e) == (value + 128) % 256 - 128


@pytest.mark.parametrize(
    ("source", "target", "same"),
    [
        ("uint8", "uint16", True),
        ("uint8", "int16", True),
        ("int8", "int16", True),
        ("int8", "uint8", False),
        ("uint8", "int8", False),
        ("int16", "int8", False),
        ("int64", "uint64", False),
        ("uint32", "int64", True),
    ],
)
def test_a_cast_to_a_type_that_holds_all_values_changes_none(source: str, target: str, same: bool) -> None:
    e = tirx.Cast(target, tirx.Var("n", source))
    assert (translator().expr(e) == N) is same


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((-128, 127), True),
        ((0, 5), True),
        ((5, 5), True),
        ((-129, 127), False),
        ((-128, 128), False),
        ((-129, 0), None),
        ((0, 128), None),
        ((-200, 200), False),
        (None, None),
    ],
)
def test_what_is_cast_to_fewer_bits_has_to_fit_or_to_be_any_number(
    span: tuple[int, int] | None, expected: bool | None
) -> None:
    e = tirx.Cast("int8", X)
    if expected is None:
        with pytest.raises(Untranslatable):
            translator(range_of=lambda value: span).expr(e)
        return
    assert (translator(range_of=lambda value: span).expr(e) == N) is expected


@pytest.mark.parametrize("dtype", ["float32", "bool", "int8x4", "handle", "bfloat16"])
def test_a_type_that_is_no_integer_has_no_range(dtype: str) -> None:
    with pytest.raises(Untranslatable):
        range_of_type(dtype)


@pytest.mark.parametrize(("wide", "known"), [(True, True), (False, False)])
def test_unsigned_sums_do_not_wrap_where_they_are_computed_in_64_bits(wide: bool, known: bool) -> None:
    unsigned = tirx.Var("n", "uint32")
    e = tirx.Add(unsigned, tirx.IntImm("uint32", 1))
    if known:
        assert translator(wide_variables=wide).expr(e) == N + 1
        assert translator(wide_variables=wide).expr(tirx.Min(e, e)) == N + 1
    else:
        with pytest.raises(Untranslatable):
            translator(wide_variables=wide).expr(e)


def test_sums_of_few_bits_have_to_fit_where_that_is_asked() -> None:
    small = tirx.Var("n", "int32")
    e = tirx.Add(small, tirx.IntImm("int32", 1))
    assert translator().expr(e) == N + 1
    asked: list[Any] = []

    def fits(value: sympy.Expr, bits: int) -> bool:
        asked.append((value, bits))
        return False

    with pytest.raises(Untranslatable):
        translator(fits=fits).expr(e)
    assert asked == [(N + 1, 32)]
    assert translator(fits=fits, wide_variables=True).expr(e) == N + 1
    # A shift is computed in the bits of its type, and what is made of constants is no wider than it says.
    with pytest.raises(Untranslatable):
        translator(fits=fits, wide_variables=True).expr(small << 1)
    with pytest.raises(Untranslatable):
        translator(fits=fits, wide_variables=True).expr(
            tirx.Add(tirx.IntImm("int32", 1), tirx.IntImm("int32", 2))
        )


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (True, sympy.true),
        (False, sympy.false),
        (X, sympy.Ne(N, 0)),
        (tirx.IntImm("bool", 1), sympy.true),
        (tirx.IntImm("bool", 0), sympy.false),
        (tirx.IntImm("int32", 0), sympy.false),
        (tirx.IntImm("int32", 2), sympy.true),
    ],
    ids=str,
)
def test_what_counts_as_true(e: Any, expected: Any) -> None:
    assert translator().condition(e) == expected


# -- wrapping ----------------------------------------------------------------------------------

FREE, EXTENT = frozenset({K}), 2**40


@pytest.mark.parametrize(
    ("side", "wraps"),
    [
        # The condition of a choice is not part of what is chosen from.
        (Select(N * N > 2**61 * N, N, M), False),
        (Select(N > 0, 2**21 * N + 2**21 * M, M), False),
        (Select(N > 0, 2**22 * N + 2**22 * M + 2**22 * N * M, M), True),
        # A sum inside a quotient is computed first.
        (FloorDiv(2**22 * N + 2**22 * M + 1, 5), True),
        (FloorDiv(2**21 * N + 2**21 * M + 1, 5), False),
        (FloorMod(N * M, 5), True),
        (FloorMod(N * M * K, 5), True),
        (N**2, True),
        (sympy.Max(N, -M), False),
    ],
    ids=str,
)
def test_what_may_leave_64_bits(side: Any, wraps: bool) -> None:
    assert may_wrap(sympy.Le(K, side), FREE, EXTENT, simplified=False) is wraps
