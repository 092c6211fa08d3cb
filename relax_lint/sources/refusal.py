"""What the gate says about an expression that it does not let through."""

from __future__ import annotations

import ast

from relax_lint.support.lazy_dataclass import record


class RefusedError(Exception):
    """The text asked for something at parse time that it may not have."""


@record(frozen=True)
class Refusal:
    """An expression that may not be evaluated, and what is wrong with it. It is `unknown` where nothing is
    wrong with it but that its value is not known without running the file.
    """

    node: ast.AST
    reason: str
    unknown: bool = False
