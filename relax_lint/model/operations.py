"""The operations of the memory program: what one binding of a Relax function does to memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from typing import Any, TypeAlias, TypeVar, overload

from relax_lint.model.types import DType, ValueType
from relax_lint.results.location import Location
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.domain import Fact
from relax_lint.symbolic.quantity import Shape, Size
from relax_lint.vm.builtins import ELEMENT_SCOPES, KillKind, Level, ViewKind
from relax_lint.vm.calls import CallKind

One = TypeVar("One", bound="Op")
Two = TypeVar("Two", bound="Op")
Three = TypeVar("Three", bound="Op")

ValueId: TypeAlias = int
"""Identity of one value inside one function."""


@record(frozen=True)
class OperationId:
    """The position of an operation: its binding's name in the IR, its index in program order
    (0-based over the whole function, branches included, then-branch first), its source location,
    the IR node that the binding's value is, and the variable that it binds. `dataflow`: it is in a dataflow
    block.
    """

    binding: str
    index: int
    location: Location | None = None
    node: Any = field(default=None, compare=False, repr=False)
    var: Any = field(default=None, compare=False, repr=False)
    dataflow: bool = field(default=False, compare=False, repr=False)


@record(frozen=True)
class Op:
    """One binding of the program; `result` is the value that it produces."""

    place: OperationId
    result: ValueId


@record(frozen=True)
class AllocStorage(Op):
    """A storage of `size` bytes. `R.memory` sizes are bytes whatever `dtype` says; `R.vm` sizes
    are product(shape) elements of `dtype` and are stored here as bytes already; `extents` is the
    shape as written.
    """

    level: Level
    size: Size
    extents: Shape
    dtype: DType
    device: int | None
    scope: str

    @property
    def size_in_bytes(self) -> bool:
        """Whether the size was written in bytes rather than in elements of `dtype`."""
        return self.level is Level.MEMORY and self.scope not in ELEMENT_SCOPES


@record(frozen=True)
class AllocTensor(Op):
    """A tensor on `storage` at `offset` bytes, or (level BUILTIN, `storage` None) one that has no
    storage of its own yet. `bytes` = ceil(product(shape) * bits * lanes / 8). `extents_from` is the
    shape where that has a name.
    """

    level: Level
    storage: ValueId | None
    offset: Size
    shape: Shape
    dtype: DType
    bytes: Size
    device: int | None
    scope: str
    extents_from: ValueId | None = None


@record(frozen=True)
class View(Op):
    """A value of its own register that shares the bytes of `source` (from `offset` bytes on). `claimed` is
    the type that a call of `vm.builtin.copy` gives its result, which is its argument. `may_be_copied`: it is
    still `R.reshape`, of which `LegalizeOps` makes a kernel, and that stays one outside of dataflow blocks.
    `extents_from` is the new shape where that has a name.
    """

    kind: ViewKind
    source: ValueId
    offset: Size
    type: ValueType
    claimed: ValueType | None = None
    may_be_copied: bool = False
    extents_from: ValueId | None = None


@record(frozen=True)
class Alias(Op):
    """`b = a`: the same value under another name (the same register of the VM)."""

    source: ValueId


@record(frozen=True)
class MatchCast(Op):
    """`R.match_cast`: `facts` hold afterwards. It is not `checked` where TVM believes the declared type of
    the source, although nothing makes it true. `unnamed`: the source was computed in the cast itself,
    and is in its register. `asked` is what of `type` the VM looks at: `OpaqueType` where that is nothing.
    `trivial`: the IR gives the source this very type; None where it does once new symbols stand for its
    extents, or says less than is known.
    """

    source: ValueId
    type: ValueType
    facts: tuple[Fact, ...]
    checked: bool
    unnamed: bool
    asked: ValueType
    trivial: bool | None


@record(frozen=True)
class MakeTuple(Op):
    """A tuple of values."""

    items: tuple[ValueId, ...]


@record(frozen=True)
class GetItem(Op):
    """One field of a tuple."""

    tuple: ValueId
    item: int


@record(frozen=True)
class Constant(Op):
    """A constant tensor, shape, prim or string value, or the shape `of` a tensor."""

    type: ValueType
    of: ValueId | None = None


@record(frozen=True)
class KernelCall(Op):
    """A call of a PrimFunc, a packed function or a high-level operator.

    `arguments` are the tensor-like operands in order; for destination-passing direct calls the
    outputs are among them (who writes what is a fact of `analysis`, not of the IR).
    `inplace` are the argument indices that the call declares to overwrite; a `pure` call claims to write
    none of its arguments.
    """

    kind: CallKind
    callee: str
    arguments: tuple[ValueId, ...]
    type: ValueType
    inplace: tuple[int, ...] = ()
    pure: bool = False


@record(frozen=True)
class Kill(Op):
    """The value's register is cleared; its memory lives on while anything else refers to it."""

    kind: KillKind
    target: ValueId


@record(frozen=True)
class Assert(Op):
    """`R.assert_op`. `fact` is None when the condition is not about symbols only, such as a tensor
    (`condition`). The `operands` are shown where it fails. It is not `written` where VMShapeLower put it in,
    to check a declared type of the value that it is `of`. `learned` holds afterwards as well, without having
    been compared: what is known of the extents that the check read.
    """

    fact: Fact | None
    operands: tuple[ValueId, ...]
    written: bool = True
    learned: tuple[Fact, ...] = ()
    condition: ValueId | None = None
    of: ValueId | None = None


@record(frozen=True)
class FunctionCall(Op):
    """A call of another Relax function of the module.

    `callee` is what the call names, `target` the function of the program behind that name; None where the
    function is a value that is not known here, such as a parameter (`value`) or a closure.
    """

    callee: str
    arguments: tuple[ValueId, ...]
    type: ValueType
    target: str | None = None
    value: ValueId | None = None


@record(frozen=True)
class If(Op):
    """Two alternatives. `facts` hold in the then-branch, `else_facts` in the else-branch; the
    result is `then_result` or `else_result`.
    """

    condition: ValueId
    then_block: Block
    else_block: Block
    then_result: ValueId
    else_result: ValueId
    facts: tuple[Fact, ...]
    else_facts: tuple[Fact, ...]


@record(frozen=True)
class Block:
    """Operations one after another."""

    ops: tuple[Op, ...]

    def walk(self) -> Iterator[Op]:
        """Every operation in program order, those of branches right after their `If`."""
        return iter(self._walked)

    @overload
    def of(self, one: type[One], /) -> tuple[One, ...]: ...

    @overload
    def of(self, one: type[One], two: type[Two], /) -> tuple[One | Two, ...]: ...

    @overload
    def of(self, one: type[One], two: type[Two], three: type[Three], /) -> tuple[One | Two | Three, ...]: ...

    @overload
    def of(self, *kinds: type[Op]) -> tuple[Op, ...]: ...

    def of(self, *kinds: type[Op]) -> tuple[Op, ...]:
        """The operations of these kinds, in the order of `walk`. Most questions concern a few of many."""
        known = self._chosen.get(kinds)
        if known is None:
            numbers = [number for kind in kinds for number in self._by_kind.get(kind, ())]
            known = tuple([self._walked[number] for number in sorted(numbers)])
            self._chosen[kinds] = known
        return known

    @cached_property
    def _chosen(self) -> dict[tuple[type[Op], ...], tuple[Op, ...]]:
        return {}

    @cached_property
    def _by_kind(self) -> dict[type[Op], list[int]]:
        """The positions of the operations of each kind."""
        found: dict[type[Op], list[int]] = {}
        for number, op in enumerate(self._walked):
            found.setdefault(op.__class__, []).append(number)
        return found

    @cached_property
    def _walked(self) -> tuple[Op, ...]:
        """They are walked over and over: with branches a copy is kept."""
        return tuple(self._each()) if any(isinstance(op, If) for op in self.ops) else self.ops

    def _each(self) -> Iterator[Op]:
        waiting = [iter(self.ops)]
        while waiting:
            for op in waiting[-1]:
                yield op
                if isinstance(op, If):
                    waiting += [iter(op.else_block.ops), iter(op.then_block.ops)]
                    break
            else:
                waiting.pop()
