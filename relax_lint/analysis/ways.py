"""Whether the two branches of an `If` come to different things, as far as who computes them tells that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeAlias

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.observed_parts import Flow
from relax_lint.model.operations import Block, FunctionCall, If, KernelCall, Op, ValueId

Acts: TypeAlias = "Certainty | None"
"""How certain it is that operations do something that somebody sees; None: they do nothing of that kind. Of
those who are not known it is not certain.
"""
_COPIES = ""
"""Who computes what may be a copy of anything."""


def stronger(*acts: Acts) -> Acts:
    """What is certain of operations of which each does that."""
    if Certainty.MUST in acts:
        return Certainty.MUST
    return Certainty.MAY if Certainty.MAY in acts else None


class Ways:
    """Asked of one function. What the same kernels compute may be the same, and what a kernel copies is."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def differ(self, op: If, acts: Sequence[Acts], fields: Iterable[tuple[int, ...]]) -> bool:
        """Whether it makes a difference which branch is taken: where only one of them does something that
        somebody sees, or each does something else, or one of the fields of the result is something else.
        """
        if set(acts) == {Certainty.MUST, None}:
            return True
        if set(acts) == {Certainty.MUST} and self._done(op.then_block) != self._done(op.else_block):
            return True
        return any(self._is_other(op, path) for path in fields)

    def _is_other(self, op: If, fields: tuple[int, ...]) -> bool:
        roots = self._flow.aliases.roots
        one, other = (roots.of(AccessPath(value, fields)) for value in (op.then_result, op.else_result))
        if not one or not other or not one.isdisjoint(other):
            return False
        makers, others = (
            {maker for root in some for maker in self._makers_of(root)} for some in (one, other)
        )
        return makers.isdisjoint(others) and _COPIES not in makers | others

    def _done(self, block: Block) -> list[str]:
        return sorted(call.callee for call in block.of(KernelCall, FunctionCall))

    def _makers_of(self, root: ValueId) -> Iterable[str]:
        """Who computes what is behind a root: those that write it, or that it comes from outside."""
        value = self._flow.aliases.roots.value_of(root)
        return self._makers.get(root) or (f"{value}",)

    @cached_property
    def _makers(self) -> dict[ValueId, set[str]]:
        found: dict[ValueId, set[str]] = {}
        for op in self._flow.function.body.of(KernelCall, FunctionCall):
            for value in self._written_by(op):
                for root in self._flow.aliases.roots_of(value):
                    found.setdefault(root, set()).add(self._name(op))
        return found

    def _written_by(self, op: Op) -> Iterable[ValueId]:
        assert isinstance(op, KernelCall | FunctionCall)
        if isinstance(op, FunctionCall):
            return (*op.arguments, op.result)
        effect = self._flow.effect_of(op)
        return (*(op.arguments[p] for p in sorted(effect.writes) if p < len(op.arguments)), op.result)

    def _name(self, op: KernelCall | FunctionCall) -> str:
        if isinstance(op, KernelCall):
            kernel = self._flow.effects.kernel_of(op)
            return _COPIES if kernel is not None and kernel.copies else op.callee
        return op.callee
