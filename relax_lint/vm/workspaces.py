"""Where a kernel's own buffers lie, and what TVM's workspace pool obtains for them.

From TVM's `src/tirx/transform/lower_tvm_builtin.cc` and `src/runtime/workspace_pool.cc`. Each thread has a
pool of its own for each device. It gives nothing back to the system before the thread ends. A request takes
the smallest free buffer that is large enough; where none is, the largest free one is exchanged for a larger
one.
"""

from __future__ import annotations

STACK_LIMIT = 1024
"""Bytes: a buffer of constant size below it lies on the stack of a CPU kernel (`kMaxStackAlloca`)."""

WORKSPACE_PAGE_SIZE = 4096
"""Bytes: `kWorkspacePageSize`. An empty request takes a page too."""

ON_CHIP = ("shared", "local", "warp", "wmma", "m16n8k8", "metal")
"""How the scopes of buffers begin that a GPU keeps on the chip: nothing is allocated for them at run time."""


def is_on_stack(scope: str, size: int | None) -> bool:
    """Whether a buffer of a CPU kernel lies on its stack; `size` in bytes, None where it is symbolic."""
    return scope == "global" and size is not None and 0 < size < STACK_LIMIT
