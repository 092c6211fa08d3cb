"""The memory program: what a Relax function does to memory, as plain frozen dataclasses.

A `Function` is a tree of straight `Block`s and `If`s. Every value that a binding produces has a
`ValueId` of its own (names in the IR are not unique). Sizes are sympy expressions over the
function's symbols; storages count bytes, shapes count elements. Nothing here knows TVM, but
`OperationId.node` keeps the original IR node at hand; a program never leaves the process that built it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy

from relax_lint.model.types import DType, TensorType, ValueType
from relax_lint.results.location import Location
from relax_lint.symbolic.domain import Fact

if TYPE_CHECKING:
    from relax_lint.model.kernels import Kernel

ValueId: TypeAlias = int
"""Identity of one value inside one function."""


@dataclass(frozen=True)
class Unknown:
    """A quantity that the IR does not determine, with the reason in words."""

    reason: str


Size: TypeAlias = sympy.Expr | Unknown
Shape: TypeAlias = tuple[sympy.Expr, ...] | Unknown


@dataclass(frozen=True)
class OperationId:
    """Where an operation stands: its binding's name in the IR, its index in program order
    (0-based over the whole function, branches included, then-branch first), its source location,
    the IR node that the binding's value is, and the variable that it binds.
    """

    binding: str
    index: int
    location: Location | None = None
    node: Any = field(default=None, compare=False, repr=False)
    var: Any = field(default=None, compare=False, repr=False)


Place = OperationId


class Level(Enum):
    """The dialect level of an allocation."""

    BUILTIN = "R.builtin"
    MEMORY = "R.memory"
    VM = "R.vm"
    PACKED = "vm.builtin"


@dataclass(frozen=True)
class Op:
    """One binding of the program; `result` is the value that it produces."""

    place: OperationId
    result: ValueId


@dataclass(frozen=True)
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
        return self.level is Level.MEMORY


@dataclass(frozen=True)
class AllocTensor(Op):
    """A tensor on `storage` at `offset` bytes, or (level BUILTIN, `storage` None) one that has no
    storage of its own yet. `bytes` = ceil(product(shape) * bits * lanes / 8).
    """

    level: Level
    storage: ValueId | None
    offset: Size
    shape: Shape
    dtype: DType
    bytes: Size
    device: int | None
    scope: str


class ViewKind(Enum):
    """How a value comes to share the memory of another."""

    RESHAPE = "reshape"
    MEMORY_VIEW = "memory.view"
    ZERO_OFFSET = "memory.ensure_zero_offset"
    COPY = "vm.builtin.copy"


@dataclass(frozen=True)
class View(Op):
    """A value of its own register that shares the bytes of `source` (from `offset` bytes on). `claimed` is
    the type that a call of `vm.builtin.copy` gives its result, which is its argument.
    """

    kind: ViewKind
    source: ValueId
    offset: Size
    type: ValueType
    claimed: ValueType | None = None


@dataclass(frozen=True)
class Alias(Op):
    """`b = a`: the same value under another name (the same register of the VM)."""

    source: ValueId


@dataclass(frozen=True)
class MatchCast(Op):
    """`R.match_cast`: checked at run time; `facts` hold afterwards."""

    source: ValueId
    type: ValueType
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class MakeTuple(Op):
    """A tuple of values."""

    items: tuple[ValueId, ...]


@dataclass(frozen=True)
class GetItem(Op):
    """One field of a tuple."""

    tuple: ValueId
    item: int


@dataclass(frozen=True)
class Constant(Op):
    """A constant tensor, shape, prim or string value."""

    type: ValueType


class CallKind(Enum):
    """The calling convention of a kernel or packed call."""

    CALL_TIR = "R.call_tir"
    CALL_TIR_INPLACE = "R.call_tir_inplace"
    CALL_DPS_PACKED = "R.call_dps_packed"
    CALL_INPLACE_PACKED = "R.call_inplace_packed"
    PRIM_FUNC = "PrimFunc"
    CALL_TIR_DYN = "R.vm.call_tir_dyn"
    PACKED = "R.call_packed"
    BUILTIN = "R.call_builtin_with_ctx"
    OPERATOR = "operator"


@dataclass(frozen=True)
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


class KillKind(Enum):
    """What a kill operation names."""

    TENSOR = "kill_tensor"
    STORAGE = "kill_storage"
    OBJECT = "kill_object"


@dataclass(frozen=True)
class Kill(Op):
    """The value's register is cleared; its memory lives on while anything else refers to it."""

    kind: KillKind
    target: ValueId


@dataclass(frozen=True)
class Assert(Op):
    """`R.assert_op` on symbols. `fact` is None when the condition is not about symbols only. It is not
    `written` where VMShapeLower put it in, to check a declared type.
    """

    fact: Fact | None
    operands: tuple[ValueId, ...]
    written: bool = True


@dataclass(frozen=True)
class FunctionCall(Op):
    """A call of another Relax function of the module."""

    callee: str
    arguments: tuple[ValueId, ...]
    type: ValueType


@dataclass(frozen=True)
class If(Op):
    """Two alternatives. `facts` hold in the then-branch, `else_facts` in the else-branch; the
    result is `then_result` or `else_result`.
    """

    condition: ValueId | None
    then_block: Block
    else_block: Block
    then_result: ValueId
    else_result: ValueId
    facts: tuple[Fact, ...]
    else_facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Block:
    """Operations one after another."""

    ops: tuple[Op, ...]

    def walk(self) -> Iterator[Op]:
        """Every operation in program order, those of branches right after their `If`."""
        for op in self.ops:
            yield op
            if isinstance(op, If):
                yield from op.then_block.walk()
                yield from op.else_block.walk()


@dataclass(frozen=True)
class Value:
    """A value's name in the IR, and the type that the IR gives it."""

    id: ValueId
    name: str
    type: ValueType


class Provenance(Enum):
    """How a symbol gets its value at run time."""

    EXTENT = "extent"
    """Read from a dimension of a real tensor: never negative."""
    VALUE = "value"
    """Arrives in an `R.Prim` or `R.Shape`: any int64."""
    UNDEFINED = "undefined"
    """Nothing in the function defines it."""


@dataclass(frozen=True)
class Origin:
    """Where a value comes from: in words (``parameter `x` ``), and where that stands in the text."""

    text: str
    location: Location | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class SymbolInfo:
    """A symbol of a function: how it gets its value, where from, whether its signature names it, and the
    variable of the IR that it stands for (None for one that the shape heap of a lowered module holds).
    """

    symbol: sympy.Symbol
    provenance: Provenance
    origin: Origin
    in_signature: bool
    var: Any = field(default=None, compare=False, repr=False)


class BoundKind(Enum):
    """The function attribute that declares a bound."""

    UPPER = "tir_var_upper_bound"
    LOWER = "tir_var_lower_bound"
    NON_NEGATIVE = "tir_non_negative_var"


@dataclass(frozen=True)
class DeclaredBound:
    """One entry of a bound attribute. `symbol` is None when the name matches no symbol of the
    function's signature (TVM's planner then ignores it); `fact` is the ASSUMED fact it gives.
    `value` is None when the attribute's value is not an integer.
    """

    kind: BoundKind
    name: str
    value: int | None
    symbol: sympy.Symbol | None
    fact: Fact | None

    @property
    def relation(self) -> str:
        """`<=` or `>=`."""
        return "<=" if self.kind is BoundKind.UPPER else ">="


@dataclass(frozen=True)
class Function:
    """The memory program of one Relax function; `attributes` is where its `R.func_attr` stands.

    `facts` hold at entry: signs of extents, equalities between the dimensions of parameters,
    declared bounds (ASSUMED). `free` symbols may be any int64. `inline_tuples` holds the fields of
    tuples that are written as an argument or as the result, without a binding of their own. The types
    of `claimed` values are believed by TVM and made true by nothing. `index_ranges` gives the smallest and
    the largest element of integer constants.
    """

    module: str | None
    name: str
    location: Location | None
    attributes: Location | None
    parameters: tuple[ValueId, ...]
    constants: tuple[ValueId, ...]
    values: dict[ValueId, Value]
    symbols: tuple[SymbolInfo, ...]
    bounds: tuple[DeclaredBound, ...]
    facts: tuple[Fact, ...]
    body: Block
    result: ValueId
    num_input: int | None
    private: bool
    inline_tuples: dict[ValueId, tuple[ValueId, ...]] = field(default_factory=dict)
    claimed: frozenset[ValueId] = frozenset()
    index_ranges: dict[ValueId, tuple[int, int]] = field(default_factory=dict)
    node: Any = field(default=None, compare=False, repr=False)

    def type_of(self, value: ValueId) -> ValueType:
        """The type that the IR gives a value."""
        return self.values[value].type

    def tensor_type(self, value: ValueId) -> TensorType | None:
        """The type of a value if it is a tensor."""
        kind = self.values[value].type
        return kind if isinstance(kind, TensorType) else None


@dataclass(frozen=True)
class Device:
    """A device that a module declares: how the types of tensors write it, and the kind of its target."""

    text: str
    target: str


@dataclass(frozen=True)
class Program:
    """All Relax functions of one IRModule, the number of devices that it needs (at least one), those
    that it declares, by index, and its kernels by name.
    """

    module: str | None
    functions: tuple[Function, ...]
    devices: int
    node: Any = field(default=None, compare=False, repr=False)
    declared_devices: tuple[Device, ...] = ()
    kernels: Mapping[str, Kernel] = field(default_factory=dict, compare=False, repr=False)
