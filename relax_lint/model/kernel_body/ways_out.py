"""Under which condition a statement leaves what is around it: a step of a loop, the loop, or the kernel."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes
from relax_lint.vm.exits import RETURN, exit_of, exits_in


def left_if(node: Any, translator: Translator) -> Boolean:
    """When a statement may be the last one that a step comes to, in terms of sizes and of the loops around;
    what depends on data may always.
    """
    kind = type(node).__name__
    if kind == "SeqStmt":
        return sympy.Or(*(left_if(part, translator) for part in node.seq))
    if kind in ("For", "While"):
        return sympy.true if RETURN in exits_in(node.body) else sympy.false
    if kind == "IfThenElse":
        return _left_in_a_branch(node, translator)
    if kind == "AttrStmt":
        return left_if(node.body, translator)
    if kind == "SBlockRealize":
        return left_if(node.block.body, translator)
    return sympy.false if exit_of(node) is None else sympy.true


def _left_in_a_branch(node: Any, translator: Translator) -> Boolean:
    then = left_if(node.then_case, translator)
    other = sympy.false if node.else_case is None else left_if(node.else_case, translator)
    if then == other:
        return then
    try:
        condition = translator.condition(nodes.without_hint(node.condition))
    except (Untranslatable, AttributeError):
        return sympy.Or(then, other)
    return sympy.Or(sympy.And(condition, then), sympy.And(sympy.Not(condition), other))
