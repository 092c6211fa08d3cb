"""RLX304: does every view cover memory of its source?

Event: a reshape, a byte window, or a `vm.builtin.copy`. Claims: the reshape keeps the element count; the
window ends inside its source and starts at a multiple of its element size; the copy claims the type of
its source. Verdict: that of the provers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.asking import sized
from relax_lint.facts.claims import Claim, all_of, any_empty, equal, multiple_of, not_negative
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import View
from relax_lint.model.sizes import elements, tensor_bytes
from relax_lint.model.types import TensorType, extents_of
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.asked import Asked, Plain, every
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.relations import at_least_zero, at_most
from relax_lint.vm.builtins import ViewKind

_NO_TYPE = Unknown("the type of the view or of its source is unknown in the IR")


@record(frozen=True)
class ViewQuestion:
    """One view and what must hold for it. `needs` and `has` count elements of a reshape and bytes of a
    byte window (`needs` from the start of the source); `unit` is the alignment in bytes.
    """

    op: View
    needs: Size
    has: Size
    size: Claim
    alignment: Claim
    unit: int = 1

    @property
    def claim(self) -> Claim:
        """Both together."""
        condition = all_of((self.size.condition, self.alignment.condition))
        return Claim(condition, self.size.domain, self._asked)

    def _asked(self) -> Asked:
        one, other = self.size.unfolded(), self.alignment.unfolded()
        parts = [each.statement for each in (one, other) if each.statement != Plain(sympy.true)]
        return Asked(every(parts), {**one.names, **other.names})

    @property
    def is_copy(self) -> bool:
        """Whether it is the source itself under a claimed type."""
        return self.op.kind is ViewKind.COPY

    @property
    def is_reshape(self) -> bool:
        """Whether the element count is asked rather than bytes."""
        return self.op.kind is ViewKind.RESHAPE


class ViewFacts:
    """The views of one function."""

    def __init__(self, flow: FunctionFlow, judge: Judge) -> None:
        self._flow = flow
        self._judge = judge

    def views(self) -> Iterator[Decided[ViewQuestion]]:
        """Every reshape, every byte window, and every `vm.builtin.copy` of a tensor."""
        ask = {
            ViewKind.RESHAPE: self._reshape,
            ViewKind.MEMORY_VIEW: self._window,
            ViewKind.COPY: self._copy,
        }
        for op in self._flow.function.body.of(View):
            if op.kind not in ask:
                continue
            if op.kind is not ViewKind.COPY or all(self._types(op)):
                yield self._decided(ask[op.kind](op))

    def _decided(self, question: ViewQuestion) -> Decided[ViewQuestion]:
        decision = self._judge.judge(question.claim)
        empty = partial(any_empty, self._types(question.op))
        only_empty = self._judge.safe_only_if(decision, question.claim, empty)
        return Decided(question, decision, only_empty=only_empty)

    def of_size(self, view: ViewQuestion) -> Verdict:
        """Whether a byte window ends inside its source."""
        return self._judge.judge(view.size).verdict

    def of_alignment(self, view: ViewQuestion) -> Verdict:
        """Whether it starts at a multiple of its element size."""
        return self._judge.judge(view.alignment).verdict

    def _copy(self, op: View) -> ViewQuestion:
        """`vm.builtin.copy` returns its argument, whatever type the call declares."""
        domain = self._judge.domain_at(op.place)
        source, target = self._types(op)
        assert source is not None
        assert target is not None
        has, needs = _bytes(source), _bytes(target)
        fine = Claim(sympy.true, domain)
        return ViewQuestion(op, needs, has, Claim(_same_type(source, target), domain), fine)

    def _reshape(self, op: View) -> ViewQuestion:
        domain = self._judge.domain_at(op.place)
        fine = Claim(sympy.true, domain)
        shapes = [type_.shape for type_ in self._types(op) if type_ is not None and type_.shape is not None]
        if len(shapes) < 2:
            return ViewQuestion(op, _NO_TYPE, _NO_TYPE, Claim(_NO_TYPE, domain), fine)
        source, target = shapes
        needs, has = elements(target), elements(source)
        asked = partial(sized, {"elements of the result": needs}, "==", {"elements of the source": has})
        return ViewQuestion(op, needs, has, Claim(equal(needs, has), domain, asked), fine)

    def _window(self, op: View) -> ViewQuestion:
        domain = self._judge.domain_at(op.place)
        source, target = self._types(op)
        has, needs = _bytes(source), _bytes(target)
        offset = op.offset
        unknown = next((size for size in (has, needs, offset) if isinstance(size, Unknown)), None)
        if unknown is not None:
            claim = Claim(unknown, domain)
            return ViewQuestion(op, needs, has, claim, claim)
        assert target is not None
        assert target.dtype is not None
        unit = target.dtype.storage_bytes
        assert not isinstance(offset, Unknown)
        assert not isinstance(needs, Unknown)
        assert not isinstance(has, Unknown)
        # Negative offsets and extents are judged by rules of their own.
        extents = extents_of(target)
        region = not_negative(domain, (*extents, offset))
        left: dict[str, Size] = {"offset": offset, "bytes of the view": needs}
        asked = partial(sized, left, "<=", {"bytes of the source": has})
        size = Claim(at_most(offset + needs, has), region, asked)
        if not offset.is_nonnegative and self._flow.aliases.offsets.of(op.source) != 0:
            # In front of a source there may be memory too, but the VM refuses what ends there.
            region = not_negative(domain, extents)
            ends = sympy.And(at_least_zero(offset + needs), at_most(offset + needs, has))
            size = Claim(ends, region)
        return ViewQuestion(op, offset + needs, has, size, Claim(multiple_of(offset, unit), region), unit)

    def _types(self, op: View) -> tuple[TensorType | None, TensorType | None]:
        source = self._flow.function.tensor_type(op.source)
        target = op.claimed or op.type
        return source, target if isinstance(target, TensorType) else None


def _same_type(source: TensorType, target: TensorType) -> Boolean | Unknown:
    """Everything that the target's type says is what the source's type says."""
    if None not in (source.dtype, target.dtype) and source.dtype != target.dtype:
        return sympy.false
    if target.shape is None:
        return sympy.true
    if source.shape is None:
        return _NO_TYPE
    if len(source.shape) != len(target.shape):
        return sympy.false
    return all_of(equal(a, b) for a, b in zip(source.shape, target.shape, strict=True))


def _bytes(type_: TensorType | None) -> Size:
    if type_ is None or type_.shape is None or type_.dtype is None:
        return _NO_TYPE
    return tensor_bytes(type_.shape, type_.dtype)
