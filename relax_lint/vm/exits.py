"""The ways out of loops and of the kernel: `break`, `continue` and `return`."""

from __future__ import annotations

from typing import Any

BREAK, CONTINUE, RETURN = "break", "continue", "return"
_STATEMENTS = {"Break": BREAK, "Continue": CONTINUE, "Return": RETURN}
_CALLS = {"break_loop": BREAK, "continue_loop": CONTINUE, "ret": RETURN, "thread_return": RETURN}
_NONE: frozenset[str] = frozenset()


def exit_of(node: Any) -> str | None:
    """Where a statement leads out of, if it does nothing else."""
    kind = type(node).__name__
    if kind == "Evaluate":
        operator = getattr(node.value, "op", None)
        return _CALLS.get(str(getattr(operator, "name", "")).rpartition(".")[2])
    return _STATEMENTS.get(kind)


def exits_in(node: Any) -> frozenset[str]:
    """The ways out of a statement that stand in it, those of the loops inside left out."""
    kind = type(node).__name__
    if kind == "SeqStmt":
        return _NONE.union(*(exits_in(statement) for statement in node.seq))
    if kind in ("For", "While"):
        return exits_in(node.body) & {RETURN}
    if kind == "IfThenElse":
        other = _NONE if node.else_case is None else exits_in(node.else_case)
        return exits_in(node.then_case) | other
    if kind == "AttrStmt":
        return exits_in(node.body)
    if kind == "SBlockRealize":
        return exits_in(node.block.body)
    found = exit_of(node)
    return _NONE if found is None else frozenset((found,))
