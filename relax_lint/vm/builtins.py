"""What TVM's operators on memory and the VM's builtins do: one row for each of them.

A call that gives one of them anything but the arguments of its row ends in an error of the VM, whatever
memory it seems to be about. Positions count from the first argument of the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum, auto
from functools import cached_property

from relax_lint.support.lazy_dataclass import dataclass

MATCH_SHAPE = "vm.builtin.match_shape"
"""The builtin that compares the extents of a tensor or a shape with numbers or slots."""

SHAPE_HEAP = "vm.builtin.alloc_shape_heap"
"""The builtin with which lowered functions begin that have symbolic shapes."""

MAKE_TUPLE, GET_ITEM = "vm.builtin.make_tuple", "vm.builtin.tuple_getitem"
"""What makes a tuple, and what takes a field of one."""

NULLS = frozenset({"relax.null_value", "vm.builtin.null_value"})
"""The callees that give a null value."""

SHAPE_HEAP_SLOT_BYTES = 8
"""Its slots are of int64."""

PERHAPS_ARGUMENT = frozenset({"relax.hint_on_device", "relax.dist.redistribute"})
"""The operators that a pass replaces by their argument where it lies on the right devices."""

_OF_SHAPE = frozenset({0})
UNREAD_BY = {
    "relax.zeros_like": _OF_SHAPE,
    "relax.ones_like": _OF_SHAPE,
    "relax.full_like": _OF_SHAPE,
    "relax.eye_like": _OF_SHAPE,
    "relax.collapse_sum_like": frozenset({1}),
    "relax.grad.avg_pool2d_backward": frozenset({1}),
    "relax.grad.take_backward": frozenset({1}),
    **{
        f"relax.inspect.tensor_{what}": _OF_SHAPE
        for what in (
            "stride_i",
            "byte_offset",
            "elem_offset",
            "shape_i",
            "ndim",
            "dtype_code",
            "dtype_bits",
            "dtype_lanes",
        )
    },
}
"""The arguments of operators, by position, of which only the type matters and no element is read."""

REPLACED_BY_SHAPE = frozenset(f"relax.{name}_like" for name in ("zeros", "ones", "full", "eye"))
"""The operators of which `LegalizeOps` makes something that no longer names their first argument."""

READ_PERHAPS_BY = {
    "relax.where": frozenset({1, 2}),
    "relax.logical_and": frozenset({1}),
    "relax.logical_or": frozenset({1}),
    "relax.nn.prelu": frozenset({1}),
    "relax.nn.nll_loss": frozenset({0, 2}),
    "relax.grad.max_pool2d_backward": frozenset({0}),
    "relax.image.grid_sample": frozenset({0}),
    "relax.vision.all_class_non_max_suppression": frozenset({0}),
    "relax.vision.roi_align": frozenset({0}),
    "relax.vision.roi_pool": frozenset({0}),
}
"""The arguments of operators, by position, of which an element matters only where the others say so."""

IPC_SCOPE = "ipc_memory"
ELEMENT_SCOPES = frozenset({IPC_SCOPE})
"""The scopes in which `R.memory.alloc_storage` counts elements of its dtype too: LowerGPUIPCAllocStorage
hands size and dtype on as they are, where the lowering of other scopes puts uint8 in the place of the dtype.
"""


IPC_STORAGE = "runtime.disco.cuda_ipc.alloc_storage"
"""The function that allocates in that scope, and is told neither scope nor device."""


AT_DATA_POINTER = frozenset(
    {
        "tvm.contrib.random.normal",
        "tvm.contrib.random.randint",
        "tvm.contrib.random.random_fill",
        "tvm.contrib.random.random_fill_for_measure",
        "tvm.contrib.random.uniform",
        "tvm.contrib.sort.argsort",
        "tvm.contrib.sort.argsort_nms",
        "tvm.contrib.sort.sort",
        "tvm.contrib.sort.topk",
        "relax.tensor_to_shape",
        "vm.builtin.tensor_to_shape",
        "vm.builtin.read_if_cond",
        "vm.builtin.apply_presence_and_frequency_penalty",
        "vm.builtin.apply_repetition_penalty",
        "vm.builtin.apply_softmax_with_temperature",
        "vm.builtin.multinomial_from_uniform",
        "vm.builtin.sample_top_p_from_logits",
        "vm.builtin.sample_top_p_from_prob",
    }
)
"""The callees that look for the elements of a tensor at its data pointer, whatever its offset is."""


class Level(Enum):
    """The dialect level of an allocation."""

    BUILTIN = "R.builtin"
    MEMORY = "R.memory"
    VM = "R.vm"
    PACKED = "vm.builtin"


class ViewKind(Enum):
    """How a value comes to share the memory of another."""

    RESHAPE = "reshape"
    MEMORY_VIEW = "memory.view"
    ZERO_OFFSET = "memory.ensure_zero_offset"
    COPY = "vm.builtin.copy"


class KillKind(Enum):
    """What a kill operation names."""

    TENSOR = "kill_tensor"
    STORAGE = "kill_storage"
    OBJECT = "kill_object"


class Role(Enum):
    """What an argument is for."""

    VALUE = auto()
    """Anything."""
    TENSOR = auto()
    STORAGE = auto()
    SHAPE = auto()
    OFFSET = auto()
    """In bytes, from the start of the storage or of the tensor."""
    DTYPE = auto()
    DEVICE = auto()
    SCOPE = auto()
    HEAP = auto()
    """The shape heap."""
    COUNT = auto()
    CODE = auto()
    """What is done with a slot of the shape heap, as in TVM's runtime/vm/builtin.h."""
    SLOT = auto()
    FUNCTION = auto()


class Operation(Enum):
    """What a call is in the memory program."""

    STORAGE = auto()
    """An allocation of bytes."""
    TENSOR = auto()
    """A tensor on a storage."""
    UNPLANNED = auto()
    """A tensor that has no storage yet."""
    VIEW = auto()
    KILL = auto()
    ASSERT = auto()
    HEAP = auto()
    SHAPE_OF = auto()
    MATCH_SHAPE = auto()
    MATCH_VALUE = auto()
    MAKE_SHAPE = auto()
    MAKE_VALUE = auto()
    CUDA_GRAPH = auto()
    """A call of a Relax function that is handed in."""
    CALL = auto()
    """A call of which only the effect matters."""


class Returns(Enum):
    """The memory of what a call returns."""

    NOTHING = auto()
    VALUE = auto()
    """A shape, a number, a tuple: no memory of its own."""
    FRESH = auto()
    """New memory, or an object that holds some."""
    ARGUMENT = auto()
    """The first argument itself."""
    VIEW = auto()
    """The bytes of the first argument, in a tensor of its own."""
    UNKNOWN = auto()


class Unit(Enum):
    """What the size of an allocation counts."""

    BYTES = auto()
    """Whatever the dtype says."""
    ELEMENTS = auto()
    """Elements of the dtype."""


@dataclass(frozen=True)
class Builtin:
    """One operator or packed function.

    `arguments` are what it must be given, `further` what may follow them. `reads` and `writes` are the
    arguments of which it reads and writes the contents, `kills` is set where it clears the register of its
    first one. `unit` is what the size of an allocation counts, `level` where it is written. Where
    `may_leave_out`, TVM writes an empty tuple for an argument after the first omitted one. `after_vm`
    are those that have the VM before these arguments once LowerRuntimeBuiltin has been there.
    """

    name: str
    operation: Operation
    arguments: tuple[Role, ...] = ()
    returns: Returns = Returns.NOTHING
    further: tuple[Role, ...] = ()
    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    kills: KillKind | None = None
    view: ViewKind | None = None
    level: Level | None = None
    unit: Unit | None = None
    may_leave_out: bool = False
    after_vm: bool = False

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """What all arguments are for."""
        return (*self.arguments, *self.further)

    @property
    def is_operator(self) -> bool:
        """Whether it is an operator of Relax, whose arguments TVM checks itself; else a packed function."""
        return self.name.startswith("relax.")

    @property
    def allocates(self) -> bool:
        """Whether a call of it obtains memory, or a tensor on memory."""
        return self.operation in _ALLOCATIONS

    @property
    def is_call(self) -> bool:
        """Whether the memory program keeps it as a call."""
        return self.operation in (Operation.CALL, Operation.HEAP)


_ALLOCATIONS = frozenset({Operation.STORAGE, Operation.TENSOR, Operation.UNPLANNED, Operation.HEAP})


def _roles(names: str) -> tuple[Role, ...]:
    return tuple(Role[name] for name in names.split())


def _storage(name: str, level: Level, unit: Unit, roles: str) -> Builtin:
    after_vm = level is Level.PACKED
    return Builtin(
        name, Operation.STORAGE, _roles(roles), Returns.FRESH, level=level, unit=unit, after_vm=after_vm
    )


def _tensor(name: str, level: Level, further: str = "") -> Builtin:
    roles, more = _roles("STORAGE OFFSET SHAPE DTYPE"), _roles(further)
    return Builtin(name, Operation.TENSOR, roles, Returns.VIEW, more, level=level, unit=Unit.ELEMENTS)


def _view(name: str, view: ViewKind, roles: str, *, may_leave_out: bool = False) -> Builtin:
    returns = Returns.ARGUMENT if view is ViewKind.COPY else Returns.VIEW
    # What does not start at its data pointer is copied.
    reads = frozenset({0} if view is ViewKind.ZERO_OFFSET else ())
    return Builtin(
        name, Operation.VIEW, _roles(roles), returns, reads=reads, view=view, may_leave_out=may_leave_out
    )


def _kill(name: str, kind: KillKind) -> Builtin:
    return Builtin(name, Operation.KILL, _roles("VALUE"), kills=kind)


def _own(name: str, operation: Operation, roles: str, returns: Returns = Returns.VALUE) -> Builtin:
    return Builtin(name, operation, _roles(roles), returns)


def _call(name: str, returns: Returns, reads: tuple[int, ...] = (), writes: tuple[int, ...] = ()) -> Builtin:
    return Builtin(name, Operation.CALL, (), returns, reads=frozenset(reads), writes=frozenset(writes))


_UNPLANNED = Builtin(
    "relax.builtin.alloc_tensor",
    Operation.UNPLANNED,
    _roles("SHAPE DTYPE DEVICE SCOPE"),
    Returns.FRESH,
    level=Level.BUILTIN,
    unit=Unit.ELEMENTS,
)
_HEAP = Builtin(SHAPE_HEAP, Operation.HEAP, _roles("COUNT"), Returns.FRESH, unit=Unit.ELEMENTS, after_vm=True)

_ROWS = (
    # Allocations. `R.memory` sizes are bytes whatever the dtype says: lowering replaces it by uint8.
    _storage("relax.memory.alloc_storage", Level.MEMORY, Unit.BYTES, "SHAPE DEVICE SCOPE DTYPE"),
    _storage("relax.vm.alloc_storage", Level.VM, Unit.ELEMENTS, "SHAPE DEVICE DTYPE SCOPE"),
    _storage("vm.builtin.alloc_storage", Level.PACKED, Unit.ELEMENTS, "SHAPE DEVICE DTYPE SCOPE"),
    # What LowerGPUIPCAllocStorage makes of a storage of `ipc_memory`, on the device of the process.
    replace(_storage(IPC_STORAGE, Level.PACKED, Unit.ELEMENTS, "SHAPE DTYPE"), after_vm=False),
    _tensor("relax.memory.alloc_tensor", Level.MEMORY, "DEVICE"),
    _tensor("relax.vm.alloc_tensor", Level.VM, "DEVICE"),
    _tensor("vm.builtin.alloc_tensor", Level.PACKED),
    _UNPLANNED,
    _HEAP,
    # Views.
    _view("relax.reshape", ViewKind.RESHAPE, "TENSOR SHAPE"),
    _view("vm.builtin.reshape", ViewKind.RESHAPE, "TENSOR SHAPE"),
    _view("relax.memory.view", ViewKind.MEMORY_VIEW, "TENSOR SHAPE DTYPE OFFSET"),
    _view(
        "runtime.TVMTensorCreateView", ViewKind.MEMORY_VIEW, "TENSOR SHAPE DTYPE OFFSET", may_leave_out=True
    ),
    _view("relax.memory.ensure_zero_offset", ViewKind.ZERO_OFFSET, "TENSOR"),
    _view("vm.builtin.ensure_zero_offset", ViewKind.ZERO_OFFSET, "TENSOR"),
    _view("vm.builtin.copy", ViewKind.COPY, "VALUE"),
    # What `LegalizeOps` replaces by its argument.
    _view("relax.grad.no_grad", ViewKind.COPY, "VALUE"),
    _view("relax.grad.start_checkpoint", ViewKind.COPY, "VALUE"),
    _view("relax.grad.end_checkpoint", ViewKind.COPY, "VALUE"),
    # What `LiftTransformParams` and `PropagateSharding` replace by its argument.
    _view("relax.builtin.stop_lift_params", ViewKind.COPY, "VALUE"),
    _view("relax.dist.annotate_sharding", ViewKind.COPY, "VALUE"),
    # Kills.
    _kill("relax.memory.kill_storage", KillKind.STORAGE),
    _kill("relax.memory.kill_tensor", KillKind.TENSOR),
    _kill("relax.vm.kill_object", KillKind.OBJECT),
    # Checks, and the shape heap of lowered modules.
    _own("relax.assert_op", Operation.ASSERT, "VALUE", Returns.NOTHING),
    _own("relax.shape_of", Operation.SHAPE_OF, "VALUE"),
    _own("vm.builtin.shape_of", Operation.SHAPE_OF, "TENSOR"),
    _own(MATCH_SHAPE, Operation.MATCH_SHAPE, "VALUE HEAP COUNT", Returns.NOTHING),
    _own("vm.builtin.match_prim_value", Operation.MATCH_VALUE, "VALUE HEAP CODE SLOT", Returns.NOTHING),
    _own("vm.builtin.make_shape", Operation.MAKE_SHAPE, "HEAP COUNT"),
    _own("vm.builtin.make_prim_value", Operation.MAKE_VALUE, "HEAP CODE SLOT"),
    # `get_cached_alloc(function, index)` and `run_or_capture(function, (arguments), index, ...)` call, or
    # have called, the function.
    _own("vm.builtin.cuda_graph.get_cached_alloc", Operation.CUDA_GRAPH, "FUNCTION VALUE", Returns.UNKNOWN),
    _own("vm.builtin.cuda_graph.run_or_capture", Operation.CUDA_GRAPH, "FUNCTION VALUE", Returns.UNKNOWN),
    # Calls, from the definitions in TVM's src/runtime; the others of that name read or write what cannot be
    # told from the call, such as a KV cache.
    _call("vm.builtin.check_tensor_info", Returns.NOTHING),
    _call("vm.builtin.check_shape_info", Returns.NOTHING),
    _call("vm.builtin.check_prim_value_info", Returns.NOTHING),
    _call("vm.builtin.check_tuple_info", Returns.NOTHING),
    _call("vm.builtin.check_func_info", Returns.NOTHING),
    _call("vm.builtin.check_string_info", Returns.NOTHING),
    _call("vm.builtin.null_value", Returns.VALUE),
    _call("vm.builtin.make_tuple", Returns.VALUE),
    _call("vm.builtin.tuple_getitem", Returns.UNKNOWN),
    _call("vm.builtin.read_if_cond", Returns.VALUE, reads=(0,)),
    _call("vm.builtin.tensor_to_shape", Returns.VALUE, reads=(0,)),
    # It copies, also to where the tensor is.
    _call("vm.builtin.to_device", Returns.FRESH, reads=(0,)),
    _call("vm.builtin.attention_kv_cache_append", Returns.ARGUMENT, reads=(0, 1), writes=(0,)),
    _call(
        "vm.builtin.attention_kv_cache_attention_with_fused_qkv",
        Returns.NOTHING,
        reads=(0, 3),
        writes=(0, 4),
    ),
    _call("runtime.TVMTensorCopyFromTo", Returns.NOTHING, reads=(0,), writes=(1,)),
    _call("runtime.TVMTensorCopyFromBytes", Returns.NOTHING, writes=(0,)),
    _call("runtime.TVMTensorCopyToBytes", Returns.NOTHING, reads=(0,)),
    _call("tvm.contrib.sort.argsort", Returns.NOTHING, reads=(0,), writes=(1,)),
    _call("tvm.contrib.sort.sort", Returns.NOTHING, reads=(0,), writes=(1,)),
)

BUILTINS: Mapping[str, Builtin] = {row.name: row for row in _ROWS}


def operators(operation: Operation) -> Mapping[str, Builtin]:
    """The Relax operators that are one operation, by name."""
    return {row.name: row for row in _ROWS if row.operation is operation and row.is_operator}
