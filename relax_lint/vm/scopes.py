"""Memory scopes of devices: what TVM's allocators hand out in them, and who refuses them.

Read from the sources of TVM 0.27 (`HexagonDeviceAPI::AllocDataSpace`, `OpenCLPooledAllocator`,
`CUDAIPCMemoryAllocator`, `PooledAllocator::Alloc` with a scope): none of them can be run on a host.
"""

from __future__ import annotations

from relax_lint.vm.allocators import Allocator
from relax_lint.vm.builtins import ELEMENT_SCOPES

HOST_TARGETS = frozenset({"llvm", "c", "cpu"})
"""Kinds of targets whose memory is the host's."""

FLAT_SCOPES = frozenset({"", "global"})
"""The scopes that an allocator without scopes offers (TVM's `AllowMemoryScope`)."""

HEXAGON_SCOPES = frozenset({"global.ddr", "global.vtcm"})
"""What a Hexagon offers besides: regions without pages, which hold exactly the bytes that were asked for."""

REGION_STEP = 2048
"""Bytes: `kHexagonAllocAlignment`."""

SCOPE_STEPS = {"global.vtcm": REGION_STEP}
"""Bytes of which a Hexagon hands out multiples: `VTCMAllocation` rounds up to `kHexagonAllocAlignment`."""

TEXTURE_SCOPES = frozenset({"global.texture", "global.texture-weight", "global.texture-nhwc"})
"""The ways in which OpenCL lays a tensor out as an image."""

POINTER_MOVER = "hexagon"
"""The kind of device on which `StorageObj::AllocTensor` adds the offset to the data pointer."""

ZERO_OFFSET_STEP = 64
"""Bytes (`kAllocAlignment`): where the host may move pointers, `vm.builtin.ensure_zero_offset` gives a tensor
that starts at a multiple of it back on the same memory; other tensors it copies."""

SHARED_BUFFER_BYTES = 2 * 4 * (24 + 2) * 8
"""Bytes that each buffer of `ipc_memory` takes besides: two arrays of barriers (uint32, for
`MAX_ALL_REDUCE_BLOCKS` and two more, of `MAX_RANKS_PER_NODE` ranks)."""

_REGION_AXES = 1
_TABLE_AXES = 2


def has_pages(scope: str) -> bool:
    """Whether the pooled allocator rounds storages of a scope up to pages: it hands scopes of devices on."""
    return scope not in HEXAGON_SCOPES and "texture" not in scope


def counts_bytes(scope: str) -> bool:
    """Whether the virtual machine compares tensors with the bytes that were asked for, in any layout."""
    return not has_pages(scope)


def unknown_room(scope: str, axes: int | None) -> str | None:
    """Why the room in a storage with so many axes is not known; None where it is the bytes asked for."""
    if scope in FLAT_SCOPES or scope in ELEMENT_SCOPES:
        return None
    if scope in HEXAGON_SCOPES:
        if axes == _REGION_AXES:
            return None
        return f"a storage of more than one axis in scope `{scope}` is a table of regions"
    if "texture" in scope:
        return f"in scope `{scope}` rows are padded to what the device asks for"
    return f"what a storage in scope `{scope}` holds is up to the device"


def unknown_amount(scope: str, axes: int) -> str | None:
    """Why it is not known what a storage with so many axes takes; None where it is."""
    if scope in FLAT_SCOPES or scope in ELEMENT_SCOPES:
        return None
    if scope in HEXAGON_SCOPES and axes > _TABLE_AXES:
        return f"in scope `{scope}` a storage has one axis, or two"
    return None if scope in HEXAGON_SCOPES else unknown_room(scope, axes)


def is_table(scope: str, axes: int) -> bool:
    """Whether a storage is a table of regions, of which each begins at a multiple of `REGION_STEP`."""
    return scope in HEXAGON_SCOPES and axes == _TABLE_AXES


def has_pool_of_its_own(scope: str) -> bool:
    """Whether storages of a scope come from one pool, whichever allocator the machine has."""
    return scope in ELEMENT_SCOPES


def refused_by_pool(scope: str) -> bool:
    """Whether the pooled allocator takes no storage in a scope, on whichever device that offers it."""
    return scope in HEXAGON_SCOPES


def offered(target: str, scope: str, allocator: Allocator) -> bool | None:
    """Whether an allocator of a device with this kind of target takes a scope that is not flat; None where
    that is not known.
    """
    if target == POINTER_MOVER:
        return scope in HEXAGON_SCOPES and allocator is Allocator.NAIVE
    if target == "opencl":
        # It has one allocator of its own, whichever is asked for.
        return scope in TEXTURE_SCOPES
    return None
