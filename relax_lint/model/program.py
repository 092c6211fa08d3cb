"""The memory program: what a Relax function does to memory, as plain frozen dataclasses.

A `Function` is a tree of straight `Block`s and `If`s. Every value that a binding produces has a
`ValueId` of its own (names in the IR are not unique). Sizes are sympy expressions over the
function's symbols; storages count bytes, shapes count elements. Nothing here knows TVM, but
`OperationId.node` keeps the original IR node at hand; a program never leaves the process that built it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from functools import cached_property
from typing import Any

import sympy

from relax_lint.model.heap_contents import SlotAccess
from relax_lint.model.heap_state import Heaps
from relax_lint.model.kernels import Kernel
from relax_lint.model.operations import Block, ValueId
from relax_lint.model.types import TensorType, ValueType
from relax_lint.results.location import Location
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.domain import Fact


@record(frozen=True)
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


@record(frozen=True)
class Origin:
    """Where a value comes from: in words (``parameter `x` ``), and its location in the text. `is_computed`:
    the program computes it, so that nobody hands it over.
    """

    text: str
    location: Location | None = None
    is_computed: bool = False

    def __str__(self) -> str:
        return self.text


@record(frozen=True)
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


@record(frozen=True)
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


@record(frozen=True)
class Function:
    """The memory program of one Relax function; `attributes` is the location of its `R.func_attr`.

    `facts` hold at entry: signs of extents, equalities between the dimensions of parameters,
    declared bounds (ASSUMED). `free` symbols may be any int64. `inline_tuples` holds the fields of
    tuples that are written as an argument or as the result, without a binding of their own. The types
    of `claimed` values are believed by TVM and made true by nothing. `index_ranges` gives the smallest and
    the largest element of integer constants. `function_values` are the values that are functions of the
    program, with the names of these. `slot_accesses` are those of its shape heaps, in program order; `heaps`
    are these, as they are at its end.
    `callees` are the names of the operators and packed functions that its bindings call. `constant_nodes`
    are the constants as TVM has them.
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
    function_values: dict[ValueId, str] = field(default_factory=dict)
    slot_accesses: tuple[SlotAccess, ...] = ()
    heaps: Heaps = field(default_factory=Heaps, compare=False, repr=False)
    callees: frozenset[str] = frozenset()
    node: Any = field(default=None, compare=False, repr=False)
    constant_nodes: Mapping[ValueId, Any] = field(default_factory=dict, compare=False, repr=False)

    def type_of(self, value: ValueId) -> ValueType:
        """The type that the IR gives a value."""
        return self.values[value].type

    def tensor_type(self, value: ValueId) -> TensorType | None:
        """The type of a value if it is a tensor."""
        kind = self.values[value].type
        return kind if isinstance(kind, TensorType) else None


@record(frozen=True)
class Device:
    """A device that a module declares: how the types of tensors write it, the kind of its target, and what it
    has in common with a declaration of the same device for another memory scope.
    """

    text: str
    target: str
    hardware: str


@record(frozen=True)
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
    moves_pointers: bool = False
    """Whether a device moves the data pointer of a tensor by its offset on the storage."""
    promised_apart: bool = False
    """Whether a kernel promises that its arguments lie apart: LLVM is then told so of every kernel, where the
    one whose name comes last promises it.
    """
    called_unseen: frozenset[str] = frozenset()
    """The functions that may be called from parts of the module that were not read."""

    @cached_property
    def by_name(self) -> dict[str, Function]:
        """The functions by their names."""
        return {function.name: function for function in self.functions}

    @cached_property
    def kept(self) -> dict[object, Any]:
        """What is found out about the program once and used for all its functions, by the type or
        function that finds it out.
        """
        return {}
