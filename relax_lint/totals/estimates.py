"""What TVM's own `relax.analysis.estimate_memory_usage` counts, from the memory program.

TVM adds up every allocation of a function, inner functions and both branches of an `If` included. It sees
`R.builtin.alloc_tensor`, `R.memory.alloc_tensor` and `R.memory.alloc_storage`, not their lowered forms, reads
only the first extent of a storage's size, and raises an AttributeError where that is symbolic. There the
dynamic storages are counted apart, as its dynamic tensors are.
"""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.model.operations import AllocStorage, AllocTensor, Op
from relax_lint.model.program import Function, Program
from relax_lint.results.memory_figures import Estimate
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.totals.compute import estimated_bytes
from relax_lint.vm.builtins import Level


def estimates(program: Program) -> tuple[Estimate, ...]:
    """One estimate per function of the module, by name, as TVM lists them."""
    outer = [function for function in program.functions if not _is_inner(program, function)]
    outer.sort(key=lambda function: function.name)
    return tuple(_estimate(function.name, _operations(program, function)) for function in outer)


def _estimate(name: str, ops: Iterable[Op]) -> Estimate:
    tensors = tensor_bytes = dynamic_tensors = storages = storage_bytes = dynamic_storages = 0
    for op in ops:
        if isinstance(op, AllocTensor) and op.level in (Level.BUILTIN, Level.MEMORY):
            size = _constant(estimated_bytes(op))
            if size is None:
                dynamic_tensors += 1
                continue
            tensors += 1
            tensor_bytes += size
            if op.level is Level.BUILTIN:
                storages += 1
                storage_bytes += size
        elif isinstance(op, AllocStorage) and op.level is Level.MEMORY:
            size = None if isinstance(op.extents, Unknown) else _constant(op.extents[0])
            if size is None:
                dynamic_storages += 1
                continue
            storages += 1
            storage_bytes += size
    return Estimate(name, tensors, tensor_bytes, dynamic_tensors, storages, storage_bytes, dynamic_storages)


def _constant(size: Size) -> int | None:
    return None if isinstance(size, Unknown) or not size.is_Integer else int(size)


def _is_inner(program: Program, function: Function) -> bool:
    return any(function.name.startswith(f"{other.name}.") for other in program.functions)


def _operations(program: Program, function: Function) -> Iterable[Op]:
    yield from function.body.walk()
    for other in program.functions:
        if other.name.startswith(f"{function.name}."):
            yield from other.body.walk()
