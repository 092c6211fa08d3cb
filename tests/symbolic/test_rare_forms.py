"""Forms of expressions, conditions and domains that programs hardly have: each says what it means, or that it is not
known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest
import sympy
from sympy.logic.boolalg import And, Implies, Not, Or

from relax_lint.results.verdict import Verdict
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.asked import Plain
from relax_lint.symbolic.backend import Encoder, analyzer_proves, is_linear
from relax_lint.symbolic.backend import Inexpressible as NotForTvm
from relax_lint.symbolic.decision import FailureStatus
from relax_lint.symbolic.domain import Domain, Fact, FactKind
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.formula import Unsupported, put, to_formula
from relax_lint.symbolic.intervals import Bounds
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.links import Links
from relax_lint.symbolic.polynomial import NotPolynomial, Polynomial, to_polynomial
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.regions import safe_region
from relax_lint.symbolic.search import QUICK
from relax_lint.symbolic.smtlib import Inexpressible, script
from relax_lint.symbolic.univariate import MAX_PIECES, solve

N, M = sympy.symbols("n m", integer=True)
UNKNOWN = sympy.Function("g", integer=True)(N)


def within(low: int, high: int, *more: Any) -> tuple[Any, ...]:
    """Conditions on two symbols."""
    return (*(bound for s in (N, M) for bound in (sympy.Ge(s, low), sympy.Le(s, high))), *more)


def domain(*conditions: Any, kind: FactKind = FactKind.ENFORCED) -> Domain:
    return Domain((N, M), tuple(Fact(one, kind, str(one)) for one in conditions))


# -- powers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("exponent", "known"), [(2, True), (64, True), (65, False), (-1, False)])
def test_powers_that_are_polynomials(exponent: int, known: bool) -> None:
    if known:
        assert to_polynomial(N**exponent) == Polynomial({((N, exponent),): 1})
        assert (
            script([(Plain(sympy.Ge(N**exponent, M)), domain())], (), always_holds=True).count(" n")
            > exponent
        )
        return
    with pytest.raises(NotPolynomial):
        to_polynomial(N**exponent)
    with pytest.raises(Inexpressible):
        script([(Plain(sympy.Ge(N**exponent, M)), domain())], (), always_holds=True)


def test_powers_of_symbols_are_none() -> None:
    with pytest.raises(NotPolynomial):
        to_polynomial(N**M)
    with pytest.raises(Inexpressible):
        script([(Plain(sympy.Ge(N**M, 0)), domain())], (), always_holds=True)


@pytest.mark.parametrize(
    ("exponent", "known"), [(1, True), (2, True), (8, True), (9, False), (-1, False), (M, False)]
)
def test_powers_that_tvm_is_asked_about(exponent: Any, known: bool) -> None:
    asked = sympy.Ge(N**exponent, 0)
    if known:
        assert Encoder().condition(asked) is not None
    else:
        with pytest.raises(NotForTvm):
            Encoder().condition(asked)
    assert analyzer_proves(asked, [sympy.Ge(N, 0), sympy.Le(N, 1)], Bounds({N: (0, 1)})) is known


@pytest.mark.parametrize(
    ("value", "known"), [(2**63 - 1, True), (2**63, False), (-(2**63) + 1, True), (-(2**63), False)]
)
def test_constants_that_tvm_is_asked_about(value: int, known: bool) -> None:
    if known:
        assert int(Encoder().expr(sympy.Integer(value)).value) == value
    else:
        with pytest.raises(NotForTvm):
            Encoder().expr(sympy.Integer(value))


@pytest.mark.parametrize(("most", "asked"), [(2**59 - 1, True), (2**59, False)])
def test_the_simplifier_is_asked_up_to_a_magnitude(most: int, asked: bool) -> None:
    # Twice both sides together must be below 2**61.
    assert analyzer_proves(sympy.Le(N, most), [], Bounds({N: (0, most)})) is False
    facts = [sympy.Le(N, most)]
    assert analyzer_proves(sympy.Le(N, most), facts, Bounds({N: (0, most)})) is asked


@pytest.mark.parametrize(
    ("e", "linear"),
    [(f.FloorDiv(N, 4), True), (f.FloorDiv(N, M), False), (f.FloorMod(4, N), False), (N**2, False)],
)
def test_what_is_linear(e: Any, linear: bool) -> None:
    assert is_linear(e) is linear


# -- conditions --------------------------------------------------------------------------------


def test_an_implication_is_a_disjunction() -> None:
    assert to_formula(Implies(N > 3, M > 2)) == to_formula(Or(N <= 3, M > 2))
    assert to_formula(Implies(N > 3, N > 2)) == to_formula(Or(N <= 3, N > 2))


@pytest.mark.parametrize(
    "e", [UNKNOWN, f.FloorDiv(UNKNOWN, 4), sympy.Max(UNKNOWN, M), f.Select(UNKNOWN > 0, N, M)]
)
def test_an_operation_that_nobody_knows_is_not_supported(e: Any) -> None:
    with pytest.raises(Unsupported):
        to_formula(sympy.Ge(e, 0))
    assert safe_region(sympy.Ge(e, 0), Knowledge((N, M), within(0, 9))) is None


@pytest.mark.parametrize(("n", "expected"), [(0, None), (1, 4), (-1, 3)])
def test_a_division_by_zero_in_an_extreme_has_no_value(n: int, expected: int | None) -> None:
    e = sympy.Max(f.FloorDiv(4, N), 3, evaluate=False)
    if expected is None:
        with pytest.raises(Unsupported):
            put(e, {N: sympy.Integer(n)})
    else:
        assert put(e, {N: sympy.Integer(n)}) == expected


QUOTIENT = f.FloorDiv(1, N)
TRUTHS: list[tuple[Any, Callable[[Any, int], Any]]] = [
    (sympy.Ge(QUOTIENT, 0), lambda q, m: q),
    (And(sympy.Ge(QUOTIENT, 0), M > 0), lambda q, m: False if m <= 0 else q),
    (Or(sympy.Ge(QUOTIENT, 0), M > 0), lambda q, m: True if m > 0 else q),
    (And(Or(sympy.Ge(QUOTIENT, 0), M > 0), M < 5), lambda q, m: m < 5 and (True if m > 0 else q)),
    (Or(And(sympy.Ge(QUOTIENT, 0), M > 0), M > 5), lambda q, m: m > 5 or (False if m <= 0 else q)),
    (
        Or(And(sympy.Ge(QUOTIENT, 0), M > 0), And(M > 5, M < 2)),
        lambda q, m: False if m <= 0 else q,
    ),
    (
        Not(And(sympy.Ge(QUOTIENT, 0), M > 0), evaluate=False),
        lambda q, m: True if m <= 0 else None if q is None else not q,
    ),
]


@pytest.mark.parametrize("number", range(len(TRUTHS)))
def test_what_divides_by_zero_is_neither_true_nor_false(number: int) -> None:
    condition, expected = TRUTHS[number]
    holds = compile_condition(condition, (N, M))
    for n, m in product((-2, -1, 0, 1, 2), (0, 1, 4, 5, 6)):
        known = None if n == 0 else 1 // n >= 0
        assert holds(n, m) is expected(known, m), (n, m)


# -- records of proofs -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("n", "n"),
        ("n_1", "n_1"),
        ("_1", "|_1|"),
        ("1", "|1|"),
        ("my name", "|my name|"),
        ("and", "symbol!0"),
        ("floor_div", "symbol!0"),
        ("a|b", "symbol!0"),
        ("a\\b", "symbol!0"),
        ("a\nb", "symbol!0"),
        ("min(x)", "|min(x)|"),
    ],
)
def test_symbols_have_names_that_smtlib_can_write(name: str, written: str) -> None:
    symbol = sympy.Symbol(name, integer=True)
    text = script([(Plain(symbol >= 0), Domain((symbol,), ()))], (), always_holds=True)
    assert f"(declare-const {written} Int)" in text
    assert f"(>= {written} 0)" in text


# SMT-LIB 2.6, its theories Core and Ints, the commands, and what a script defines.
TAKEN = (
    *("and", "or", "xor", "not", "ite", "distinct", "true", "false"),
    *("let", "forall", "exists", "match", "par", "as", "_"),
    *("div", "mod", "abs"),
    *("min", "max", "floor_div", "floor_mod", "trunc_div", "trunc_mod"),
    *("assert", "push", "pop", "exit", "echo", "reset"),
    *("BINARY", "DECIMAL", "HEXADECIMAL", "NUMERAL", "STRING"),
)


@pytest.mark.parametrize("name", TAKEN)
def test_a_word_that_means_something_is_no_name_of_a_symbol(name: str) -> None:
    symbol = sympy.Symbol(name, integer=True)
    text = script([(Plain(symbol >= 0), Domain((symbol,), ()))], (), always_holds=True)
    assert f"(declare-const {name} Int)" not in text


@pytest.mark.parametrize(
    ("claim", "written"),
    [
        (sympy.Ne(N, 3), "(not (= n 3))"),
        (Not(And(N > 3, M > 3), evaluate=False), "(not (and (> m 3) (> n 3)))"),
        (Or(N > 3, M > 3), "(or (> m 3) (> n 3))"),
        (sympy.Ge(f.Select(M > 0, M, 4), N), "(ite (> m 0) m 4)"),
        (sympy.Ge(sympy.Max(N, M, 3), 4), "(max (max 3 m) n)"),
        (sympy.Ge(sympy.Min(N, M), 4), "(min m n)"),
        (sympy.Le(N**2, M), "(* 1 n n)"),
        (sympy.Le(-5, M), "(- 5)"),
    ],
)
def test_a_claim_in_smtlib(claim: Any, written: str) -> None:
    text = script([(Plain(claim), domain()), (Plain(N > 9), domain())], (), always_holds=True)
    assert written in text
    assert text.count("(check-sat)") == 2
    assert "(not (> n 9))" in text
    assert "which never holds" in script([(Plain(claim), domain())], (), always_holds=False)


def test_an_assumed_fact_is_stated_where_a_proof_needs_it() -> None:
    assumed = domain(N > 3, kind=FactKind.ASSUMED)
    for needed, count in (((), 0), (assumed.facts, 1)):
        text = script([(Plain(N > 2), assumed)], needed, always_holds=True)
        assert text.count("(assert (> n 3))") == count


# -- domains and regions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        (sympy.Lt(N, M), sympy.Lt(M, N)),
        (sympy.Eq(N, M), sympy.Ne(N, M)),
        (sympy.Gt(N, 9),),
        (sympy.Eq(2 * N, 5),),
        (sympy.Eq(N * M, 7), sympy.Ne(N, 1), sympy.Ne(N, 7)),
        (sympy.false,),
        (Or(N < 0, M > 9),),
        (sympy.Ge(-N * M, 1),),
        (sympy.Eq(N * M, 90),),
        (sympy.Ne(f.FloorDiv(N, 10), 0),),
    ],
    ids=str,
)
def test_a_domain_without_a_member(more: tuple[Any, ...]) -> None:
    chain, empty = ProverChain(), domain(*within(0, 9, *more))
    assert chain.is_empty(empty)
    assert chain.satisfiable(empty) is None
    for claim in (N > 3, N < M, sympy.true, sympy.false):
        decision = chain.decide(claim, empty)
        assert (decision.verdict, decision.reachable) == (Verdict.ALWAYS_FINE, False)
    conditions = tuple(one for one in within(0, 9, *more))
    links = Links(rlimit=200_000, max_points=4096)
    assert links.witness((N, M), conditions) == (True, None)
    if links.knowledge((N, M), conditions).empty:
        found = links.search((N, M), conditions).smallest(sympy.true, QUICK)
        assert (found.point, found.exact) == (None, True)
        assert links.search((N, M), conditions).sample(sympy.true) is None


@pytest.mark.parametrize("more", [(), (sympy.Lt(N, M),), (sympy.Eq(N * M, 7),), (sympy.Ne(N, 0),)], ids=str)
def test_a_domain_with_members(more: tuple[Any, ...]) -> None:
    chain, some = ProverChain(), domain(*within(0, 9, *more))
    assert not chain.is_empty(some)
    found = chain.satisfiable(some)
    assert found is not None
    assert all(one.subs({N: found["n"], M: found["m"]}) == sympy.true for one in within(0, 9, *more))
    assert chain.decide(sympy.false, some).verdict is Verdict.ALWAYS_WRONG
    assert chain.first_failure(sympy.true, some).status is FailureStatus.NEVER


@pytest.mark.parametrize(
    ("facts", "claim", "region"),
    [
        # No value between 2 and 8 is in the domain.
        (Or(N <= 2, N >= 8), Or(N <= 2, And(N >= 8, N <= 12)), "n <= 12"),
        (Or(N <= 2, N >= 8), N <= 1, "n <= 1"),
        (Or(N <= 2, N >= 8), Or(N <= 1, N >= 9), "n >= 9 or n <= 1"),
        (
            Or(N <= 2, And(N >= 8, N <= 9), N >= 12),
            Or(And(N >= 1, N <= 2), And(N >= 8, N <= 15)),
            "n >= 1 and n <= 15",
        ),
        (sympy.true, sympy.Ne(N, 4), "n != 4"),
        (sympy.true, sympy.Eq(N, 4), "n == 4"),
        (sympy.true, N >= 20, "n >= 20"),
        (sympy.true, N <= 0, "n <= 0"),
        (sympy.true, sympy.Ne(N, 0), "n >= 1"),
        (sympy.true, sympy.Eq(f.FloorMod(N, 7), 0), "n % 7 == 0"),
    ],
)
def test_a_region_of_one_symbol_is_as_few_pieces_as_the_domain_allows(
    facts: Any, claim: Any, region: str
) -> None:
    found = safe_region(claim, Knowledge((N,), (sympy.Ge(N, 0), sympy.Le(N, 20), facts)))
    assert found is not None
    assert condition_text(found) == region


def test_a_solution_of_many_pieces_is_not_followed() -> None:
    def holes(count: int) -> Any:
        return And(*(sympy.Ne(N, 2 * x + 1) for x in range(count)))

    few, many = (
        to_formula(And(Or(holes(count), N < -5), N < 10**6)) for count in (MAX_PIECES - 2, MAX_PIECES + 2)
    )
    found = solve(few, N, (0, 1000))
    assert found is not None
    assert len(found) == MAX_PIECES - 1
    assert solve(many, N, (0, 1000)) is None


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (f.Select(N > 3, N, M), (-7, 9)),
        (f.Select(N > 3, M, N + 5), (-7, 14)),
        (f.Select(N > 3, sympy.Integer(3), M), (-7, 3)),
        (f.FloorDiv(N, sympy.Integer(0)), (0, 0)),
        (f.TruncDiv(N, sympy.Integer(0)), (0, 0)),
        (f.FloorMod(N, sympy.Integer(0)), (0, 0)),
        (f.TruncMod(N, sympy.Integer(0)), (0, 0)),
    ],
    ids=str,
)
def test_bounds_of_choices_and_of_what_has_no_value(e: Any, expected: tuple[int, int]) -> None:
    assert Bounds({N: (0, 9), M: (-7, -2)}).expr(e) == expected


def test_of_an_unknown_operation_there_are_no_bounds() -> None:
    with pytest.raises(NotPolynomial):
        Bounds({N: (0, 9)}).expr(UNKNOWN)


def largest(conditions: Sequence[Any], claim: Any, limit: int, symbols: tuple[Any, ...] = (N,)) -> Any:
    return Links(rlimit=0, max_points=0).search(symbols, tuple(conditions)).largest(claim, limit, QUICK)


def test_the_largest_member_of_one_axis() -> None:
    inside = (sympy.Ge(N, 0), sympy.Le(N, 100))
    assert largest(inside, N <= 41, 1000) == (41,)
    assert largest(inside, sympy.Eq(f.FloorMod(N, 7), 3), 1000) == (94,)
    assert largest((*inside, sympy.Ne(N, 41)), N <= 41, 1000) == (40,)
    assert largest(inside, N <= 41, 42) == (41,)
    assert largest(inside, N <= 41, 41) is None
    assert largest(inside, N > 100, 1000) is None
    assert largest(inside, sympy.Ge(UNKNOWN, 0), 1000) is None
    assert largest(within(0, 9), N <= 4, 1000, (N, M)) is None
    assert largest((*inside, sympy.Ge(UNKNOWN, 0)), N <= 41, 1000) is None


def test_without_what_can_be_evaluated_nothing_is_found() -> None:
    search = Links(rlimit=0, max_points=0).search((N,), (sympy.Ge(N, 0), sympy.Ge(UNKNOWN, 0)))
    assert search.sample(N > 3) is None
    assert search.smallest(N > 3, QUICK).point is None
    assert search.members(10**30) is None
    other = Links(rlimit=0, max_points=0).search((N,), (sympy.Ge(N, 0), sympy.Le(N, 5)))
    assert other.sample(sympy.Ge(UNKNOWN, 0)) is None
    found = other.smallest(sympy.Ge(UNKNOWN, 0), QUICK)
    assert (found.point, found.exact) == (None, False)
    assert other.members(6) == [(x,) for x in range(6)]
    assert other.members(5) is None


def test_a_solved_symbol_stays_within_64_bits() -> None:
    twice = Links(rlimit=0, max_points=0).search((N, M), (sympy.Eq(M, 4 * N), sympy.Ge(N, 0)))
    assert twice.member((2**61 - 1,)) == (2**61 - 1, 2**63 - 4)
    assert twice.member((2**61,)) is None
    divided = Links(rlimit=0, max_points=0).search((N, M), (sympy.Eq(M, f.FloorDiv(7, N)),))
    assert divided.member((2,)) == (2, 3)
    assert divided.member((0,)) is None


@pytest.mark.parametrize(("otherwise", "proved"), [(M, True), (M * N, False), (M - 1, False)])
def test_both_sides_of_a_choice_are_asked(otherwise: sympy.Expr, proved: bool) -> None:
    knowledge = Knowledge((N, M), within(0, 1000))
    claim = knowledge.formula(sympy.Ge(f.Select(N > 3, M + N, otherwise), M))
    assert knowledge.proves(claim) is proved


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize(
    "claim",
    [
        sympy.Le(M * f.FloorDiv(N, M), N),
        sympy.Gt(M * f.FloorDiv(N, M) + M, N),
        sympy.Ge(N - M * f.FloorDiv(N, M), 0),
    ],
)
def test_nothing_follows_from_a_quotient_by_what_may_be_0(claim: Any, least: int) -> None:
    found = ProverChain().decide(claim, domain(sympy.Ge(N, 0), sympy.Ge(M, least), sympy.Le(M, 9)))
    if least:
        assert found.verdict is Verdict.ALWAYS_FINE
    else:
        assert found.verdict is Verdict.NEEDS_RUNTIME_CHECK
        assert found.safe_when is not None
        assert found.safe_when.has(f.FloorDiv)
