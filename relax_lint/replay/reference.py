"""The same module without any sharing of memory: what its functions would answer if every tensor had
bytes of its own. Importing this imports TVM.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tvm
from tvm import relax

from relax_lint.analysis.effects import EffectTable
from relax_lint.model.builder import build_program
from relax_lint.model.operations import AllocStorage, AllocTensor, KernelCall, Op
from relax_lint.model.program import Function
from relax_lint.vm import versions
from relax_lint.vm.builtins import SHAPE_HEAP, Level, Operation, operators

COPY = "relax_lint.replay.copy"
"""The function that gives a tensor with the same contents and memory of its own."""

_STORAGES = operators(Operation.STORAGE)
_TENSORS = operators(Operation.TENSOR)
_KILLS = operators(Operation.KILL)


def without_sharing(module: Any) -> Any | None:
    """The module with each tensor on a storage of its own, no kills, and every kernel reading copies of what
    it does not write. None where memory is managed by calls of runtime functions (after LowerRuntimeBuiltin),
    where a function holds another one, or where the result would not be well-formed.
    """
    flat = relax.transform.ToNonDataflow()(module)
    program = build_program(flat)
    effects = EffectTable(program)
    by_name = {function.name: function for function in program.functions}
    result = tvm.IRModule(dict(flat.functions.items()), global_infos=flat.global_infos)
    rewritten = versions.relax_functions(flat)
    if len(rewritten) < len(by_name) or any(map(_is_lowered, by_name.values())):
        return None
    for name, function in rewritten:
        body = _Rewriter(by_name[name], effects).sequence(function.body)
        pure = bool(function.is_pure) and "relax.force_pure" in (function.attrs or {})
        changed = relax.Function(function.params, body, function.ret_ty, pure, function.attrs)
        result.update_func(flat.get_global_var(name), changed)
    try:
        # It gives the rewritten sequences their types.
        result = relax.transform.Normalize()(result)
        relax.analysis.well_formed(result)
    except Exception:
        # TVM names what is wrong by an exception of one of several types.
        return None
    return result


def _is_lowered(function: Function) -> bool:
    return any(
        op.level is Level.PACKED
        if isinstance(op, AllocStorage | AllocTensor)
        else isinstance(op, KernelCall) and op.callee == SHAPE_HEAP
        for op in function.body.walk()
    )


class _Rewriter:
    """Writes the bindings of one function anew. Every variable keeps its identity."""

    def __init__(self, function: Function, effects: EffectTable) -> None:
        self._function = function
        self._effects = effects
        self._operations: dict[Any, Op] = {op.place.var: op for op in function.body.walk()}
        self._storages: dict[Any, Any] = {}
        self._builder = relax.BlockBuilder()

    def sequence(self, body: Any) -> Any:
        """A SeqExpr with its blocks rewritten."""
        blocks = []
        for block in body.blocks:
            bindings = [new for old in block.bindings for new in self._binding(old)]
            blocks.append(relax.BindingBlock(bindings))
        return relax.SeqExpr(blocks, body.body)

    def _binding(self, binding: Any) -> Iterator[Any]:
        value, var = binding.value, binding.var
        name = str(getattr(getattr(value, "op", None), "name", ""))
        operation = self._operations.get(var)
        if type(binding).__name__ == "MatchCast":
            yield binding
        elif versions.kind(value) == "If":
            branches = self.sequence(value.true_branch), self.sequence(value.false_branch)
            yield relax.VarBinding(var, relax.If(value.cond, *branches))
        elif name in _STORAGES:
            self._storages[var] = value
            yield binding
        elif name in _TENSORS:
            yield from self._own_storage(var, value)
        elif isinstance(operation, KernelCall):
            yield from self._reading_copies(var, value, operation)
        elif name not in _KILLS:
            yield binding

    def _own_storage(self, var: Any, call: Any) -> Iterator[Any]:
        storage, _, shape, dtype, *rest = call.args
        if versions.kind(shape) != "ShapeExpr":
            yield relax.VarBinding(var, call)
            return
        bits, lanes = versions.dtype_bits(str(versions.dtype_of(dtype)))
        size: Any = tvm.tirx.IntImm("int64", (bits * lanes + 7) // 8)
        for extent in shape.values:
            size = size * extent
        own = self._storage(str(call.op.name), self._storages.get(storage), size)
        yield (binding := self._new("own_storage", own))
        arguments = [binding.var, tvm.tirx.IntImm("int64", 0), shape, dtype, *rest]
        yield relax.VarBinding(var, self._typed(relax.Call(call.op, arguments, call.attrs, call.ty_args)))

    def _storage(self, tensor_op: str, like: Any | None, size: Any) -> Any:
        """A storage of `size` bytes on the device and in the scope of another one, where that is known."""
        shape = relax.ShapeExpr([size])
        if _TENSORS[tensor_op].level is Level.MEMORY:
            device, scope = (0, "global") if like is None else like.args[1:3]
            return relax.op.memory.alloc_storage(shape, device, scope, "uint8")
        return relax.op.vm.alloc_storage(shape, 0 if like is None else like.args[1], "uint8")

    def _reading_copies(self, var: Any, call: Any, operation: KernelCall) -> Iterator[Any]:
        copied = self._copied(operation)
        if not copied:
            yield relax.VarBinding(var, call)
            return
        in_tuple = bool(call.args) and any(versions.kind(a) == "Tuple" for a in call.args[:2])
        direct = versions.kind(call.op) in ("GlobalVar", "ExternFunc")
        head = [] if direct else [call.args[0]]
        tail = list(call.args[len(head) :])
        operands = list(tail[0].fields) if in_tuple else tail
        for index in copied:
            yield (binding := self._new("copy", self._copy(operands[index])))
            operands[index] = binding.var
        if in_tuple:
            operands = [self._typed(relax.Tuple(operands)), *tail[1:]]
        changed = relax.Call(call.op, [*head, *operands], call.attrs, call.ty_args)
        yield relax.VarBinding(var, self._typed(changed))

    def _copied(self, operation: KernelCall) -> list[int]:
        tensors = [
            index
            for index, argument in enumerate(operation.arguments)
            if self._function.tensor_type(argument) is not None
        ]
        if operation.kind.in_place:
            return tensors
        if not operation.kind.passes_outputs:
            return []
        writes = self._effects.effect_of(operation).writes
        return [index for index in tensors if index not in writes]

    def _copy(self, tensor: Any) -> Any:
        return relax.Call(relax.ExternFunc(COPY), [tensor], None, [tensor.ty])

    def _new(self, name: str, value: Any) -> Any:
        typed = self._typed(value)
        return relax.VarBinding(relax.Var(name, typed.ty), typed)

    def _typed(self, value: Any) -> Any:
        return self._builder.normalize(value)
