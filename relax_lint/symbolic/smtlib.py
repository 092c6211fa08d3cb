"""Claims over domains as SMT-LIB 2, so that any solver can check again what a prover decided.

A script says what holds at the operation and that the claim fails (or, for a claim that never holds, that it
holds); `unsat` is the proof. Integers are unbounded, as everywhere here; that symbols are int64 is a fact of
the domain. A division by zero has no value for us and an arbitrary one in SMT-LIB, which only makes `unsat`
harder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sympy
from sympy.logic.boolalg import And, Boolean, Not, Or

from relax_lint.symbolic import functions as f
from relax_lint.symbolic.asked import Joined, Plain, Statement, symbols_of
from relax_lint.symbolic.domain import INT64_MAX, INT64_MIN, Domain, Fact, FactKind
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.standard import standard

_MAX_EXPONENT = 64
_SIMPLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Words that mean something in SMT-LIB, and the functions that are defined below.
_TAKEN = frozenset(
    {
        *(
            "and",
            "or",
            "xor",
            "not",
            "ite",
            "let",
            "_",
            "forall",
            "exists",
            "distinct",
            "true",
            "false",
            "par",
            "as",
        ),
        *("div", "mod", "abs", "min", "max", "floor_div", "floor_mod", "trunc_div", "trunc_mod"),
        *("assert", "push", "pop", "exit", "echo", "reset", "match", "a", "b"),
        *("BINARY", "DECIMAL", "HEXADECIMAL", "NUMERAL", "STRING"),
    }
)

_DEFINITIONS = {
    "floor_div": "(define-fun floor_div ((a Int) (b Int)) Int (ite (> b 0) (div a b) (div (- a) (- b))))",
    "floor_mod": "(define-fun floor_mod ((a Int) (b Int)) Int (- a (* b (floor_div a b))))",
    "trunc_div": "(define-fun trunc_div ((a Int) (b Int)) Int"
    " (ite (= (< a 0) (< b 0)) (div (abs a) (abs b)) (- (div (abs a) (abs b)))))",
    "trunc_mod": "(define-fun trunc_mod ((a Int) (b Int)) Int (- a (* b (trunc_div a b))))",
    "max": "(define-fun max ((a Int) (b Int)) Int (ite (>= a b) a b))",
    "min": "(define-fun min ((a Int) (b Int)) Int (ite (<= a b) a b))",
}
_FUNCTIONS = {
    f.FloorDiv: "floor_div",
    f.FloorMod: "floor_mod",
    f.TruncDiv: "trunc_div",
    f.TruncMod: "trunc_mod",
}
_RELATIONS = {sympy.Eq: "=", sympy.Lt: "<", sympy.Le: "<=", sympy.Gt: ">", sympy.Ge: ">="}


class Inexpressible(ValueError):
    """SMT-LIB has no integer form of this condition."""


def script(
    claims: Sequence[tuple[Statement, Domain]], assumptions: Iterable[Fact], *, always_holds: bool
) -> str:
    """The script for a verdict on an operation of which one of several claims holds on each path; every
    `check-sat` in it must answer `unsat`.

    Of the assumed facts of a domain only those among `assumptions` are stated. Raises `Inexpressible`.
    """
    believed = {fact.condition for fact in assumptions}
    lines = ["(set-logic ALL)", *_DEFINITIONS.values()]
    for claim, domain in claims:
        lines += ["(push 1)", *_question(claim, domain, believed, always_holds), "(check-sat)", "(pop 1)"]
    return "\n".join(lines) + "\n"


def _question(claim: Statement, domain: Domain, believed: set[Boolean], always_holds: bool) -> Iterator[str]:
    facts = [fact for fact in domain.facts if fact.kind is not FactKind.ASSUMED or fact.condition in believed]
    symbols = sorted(
        symbols_of(claim).union(*(fact.condition.free_symbols for fact in facts)), key=lambda s: str(s.name)
    )
    names = _names(symbols)
    for symbol in symbols:
        yield f"(declare-const {names[symbol]} Int)"
        yield f"(assert (and (<= {_integer(INT64_MIN)} {names[symbol]}) (<= {names[symbol]} {INT64_MAX})))"
    for fact in facts:
        yield f"; {_comment(fact.text)}"
        yield f"(assert {_condition(standard(fact.condition), names)})"
    stated = _statement(claim, names)
    yield "; the claim, negated" if always_holds else "; the claim, which never holds"
    yield f"(assert (not {stated}))" if always_holds else f"(assert {stated})"


def _names(symbols: Iterable[Any]) -> dict[Any, str]:
    """A symbol's own name where SMT-LIB can write it."""
    names: dict[Any, str] = {}
    for number, symbol in enumerate(symbols):
        name = str(symbol.name)
        # A word that is taken stays so between bars.
        if name in _TAKEN or re.search(r"[|\\]", name) or not name.isprintable():
            name = f"symbol!{number}"
        elif not _SIMPLE.fullmatch(name):
            name = f"|{name}|"
        names[symbol] = name
    return names


def _comment(text: str) -> str:
    return " ".join(text.split())


def _integer(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _statement(statement: Statement, names: dict[Any, str]) -> str:
    if isinstance(statement, Plain):
        return _condition(standard(statement.condition), names)
    if isinstance(statement, Joined):
        word = "and" if statement.every else "or"
        return f"({word} {' '.join(_statement(part, names) for part in statement.parts)})"
    word = "=" if statement.relation == "==" else statement.relation
    return f"({word} {_total(statement.left, names)} {_total(statement.right, names)})"


def _total(terms: Sequence[Any], names: dict[Any, str]) -> str:
    texts = [_expr(standard(term), names) for term in terms]
    return texts[0] if len(texts) == 1 else f"(+ {' '.join(texts)})"


def _condition(c: Any, names: dict[Any, str]) -> str:
    if c in (sympy.true, sympy.false):
        return str(bool(c)).lower()
    if isinstance(c, And | Or):
        word = "and" if isinstance(c, And) else "or"
        return f"({word} {' '.join(_condition(a, names) for a in c.args)})"
    if isinstance(c, Not):
        return f"(not {_condition(c.args[0], names)})"
    if isinstance(c, sympy.Ne):
        return f"(not (= {_expr(c.args[0], names)} {_expr(c.args[1], names)}))"
    relation = _RELATIONS.get(type(c))
    if relation is None:
        raise Inexpressible(f"`{c}` has no form in SMT-LIB")
    return f"({relation} {_expr(c.args[0], names)} {_expr(c.args[1], names)})"


def _expr(e: Any, names: dict[Any, str]) -> str:
    if isinstance(e, sympy.Symbol):
        return names[e]
    if isinstance(e, sympy.Integer):
        return _integer(int(e))
    if isinstance(e, sympy.Add | sympy.Mul):
        word = "+" if isinstance(e, sympy.Add) else "*"
        return f"({word} {' '.join(_expr(a, names) for a in e.args)})"
    if isinstance(e, sympy.Pow) and isinstance(e.args[1], sympy.Integer) and 0 < e.args[1] <= _MAX_EXPONENT:
        return f"(* 1 {' '.join([_expr(e.args[0], names)] * int(e.args[1]))})"
    if isinstance(e, sympy.Max | sympy.Min):
        word = "max" if isinstance(e, sympy.Max) else "min"
        first, *rest = (_expr(a, names) for a in e.args)
        for other in rest:
            first = f"({word} {first} {other})"
        return first
    if type(e) in _FUNCTIONS:
        return f"({_FUNCTIONS[type(e)]} {_expr(e.args[0], names)} {_expr(e.args[1], names)})"
    if isinstance(e, f.Select):
        return f"(ite {_condition(e.args[0], names)} {_expr(e.args[1], names)} {_expr(e.args[2], names)})"
    raise Inexpressible(f"`{expr_text(e)}` has no form in SMT-LIB")
