"""What is used or killed after it was killed: one walk over the registers of the VM."""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty, weakest
from relax_lint.analysis.liveness import leaves, operands
from relax_lint.analysis.untaken import Untaken
from relax_lint.model.operations import Assert, Block, Constant, If, KernelCall, Kill, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm.builtins import NULLS, KillKind


@record(frozen=True)
class KilledUse:
    """`value` is used by `op` (None: returned) after `kill`, on every path to `op` (`MUST`), or else `why`
    not.
    """

    op: Op | None
    value: ValueId
    kill: Kill
    certainty: Certainty
    why: str = "killed only on some paths"

    @property
    def is_certain(self) -> bool:
        """Whether that is so on every path."""
        return self.certainty is Certainty.MUST


@record(frozen=True)
class _Killed:
    kill: Kill
    certainty: Certainty


class Kills:
    """The uses after a kill, and the kills after a kill, of one function."""

    def __init__(self, function: Function, aliases: Aliases, untaken: Untaken) -> None:
        self._function = function
        self._aliases = aliases
        self._untaken = untaken
        self.uses: list[KilledUse] = []
        self.again: list[KilledUse] = []
        self.of_constants: list[Kill] = []
        """The kills of what sits in no register: TVM cannot compile them."""
        self.of_nulls: list[Kill] = []
        """The kills of null values: compiled code cannot contain them."""
        self._constants = _constants(function)
        self._nulls = frozenset(op.result for op in function.body.of(KernelCall) if op.callee in NULLS)
        killed: dict[ValueId, _Killed] = {}
        self._block(function.body, killed)
        self._use(None, leaves((function.result,), function), killed)

    def _block(self, block: Block, killed: dict[ValueId, _Killed]) -> None:
        for op in block.ops:
            # A trivial binding is gone before registers are assigned: the use counts, not the name.
            if killed and not self._aliases.is_trivial(op):
                self._use(op, operands(op, self._function), killed)
            if isinstance(op, If):
                self._branches(op, killed)
            elif isinstance(op, Kill):
                self._kill(op, killed)

    def _branches(self, op: If, killed: dict[ValueId, _Killed]) -> None:
        only, other = self._untaken.taken(op), dict(killed)
        for state, block, result, holds in (
            (killed, op.then_block, op.then_result, True),
            (other, op.else_block, op.else_result, False),
        ):
            if only is not (not holds):
                self._block(block, state)
                self._use(op, leaves((result,), self._function), state)
        if only is not None:
            after = dict(killed if only else other)
            killed.clear()
            killed.update(after)
            return
        for register in killed.keys() | other.keys():
            one, two = killed.get(register), other.get(register)
            known = one or two
            assert known is not None
            branches = (Certainty.MAY if each is None else each.certainty for each in (one, two))
            killed[register] = _Killed(known.kill, weakest(*branches))

    def _kill(self, op: Kill, killed: dict[ValueId, _Killed]) -> None:
        register = self._aliases.register(op.target)
        if register in self._constants:
            self.of_constants.append(op)
        if register in self._nulls:
            self.of_nulls.append(op)
        before = killed.get(register)
        if before is not None:
            self.again.append(KilledUse(op, op.target, before.kill, before.certainty))
        killed[register] = _Killed(op, Certainty.MUST)

    def _use(self, op: Op | None, values: Iterable[ValueId], killed: dict[ValueId, _Killed]) -> None:
        registers = self._aliases.registers
        hit = [value for value in values if registers.get(value, value) in killed]
        for value in dict.fromkeys(hit) if hit else ():
            found = killed[registers.get(value, value)]
            if found.kill.kind is KillKind.OBJECT and self._aliases.is_field_to_check(value):
                continue
            # `b = a` shares the register of `a` because KillAfterLastUse removes such bindings. After it,
            # where `kill_object` stands, code generation gives `b` a register of its own (measured).
            # A cast that KillAfterLastUse did not remove keeps its register, too.
            shown = isinstance(op, Assert) and value != op.condition
            by_cast = not self._aliases.cast_names.isdisjoint((value, found.kill.target))
            if value != found.kill.target and (found.kill.kind is KillKind.OBJECT or by_cast):
                why = "an alias has its own register unless the pipeline removes trivial bindings"
                self.uses.append(KilledUse(op, value, found.kill, Certainty.MAY, why))
            elif shown:
                why = "an assertion shows it only where it fails"
                self.uses.append(KilledUse(op, value, found.kill, Certainty.MAY, why))
            else:
                self.uses.append(KilledUse(op, value, found.kill, found.certainty))


def _constants(function: Function) -> frozenset[ValueId]:
    """The tensors that are written in place, or bound to a name as they are."""
    bound = (op.result for op in function.body.of(Constant))
    tensors = (value for value in bound if function.tensor_type(value) is not None)
    return frozenset((*function.constants, *tensors))
