"""What `R.call_inplace_packed` declares of packed functions, kept where a module no longer says it:
RemovePurityChecking makes plain packed calls of them, before TVM plans memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from relax_lint.vm.versions import operator_name, relax_functions

Declared = Mapping[str, tuple[int, ...]]
"""The packed functions that overwrite arguments: which argument each output is, -1 for none."""

_OPERATOR = "call_inplace_packed"
_TYPES = next(
    name for name in ("ty_args", "sinfo_args") if name in signature(relax.op.call_inplace_packed).parameters
)


def declared_in(module: Any) -> dict[str, tuple[int, ...]]:
    """What the calls of a module declare, of functions that are always called alike."""
    found: dict[str, set[tuple[int, ...]]] = {}

    def visit(node: Any) -> None:
        if not isinstance(node, relax.Call):
            return
        if isinstance(node.op, relax.ExternFunc):
            found.setdefault(str(node.op.global_symbol), set()).add(())
        elif operator_name(node) == _OPERATOR:
            indices = tuple(int(index) for index in node.attrs.inplace_indices)
            found.setdefault(str(node.args[0].global_symbol), set()).add(indices)

    for _, function in relax_functions(module):
        relax.analysis.post_order_visit(function, visit)
    alike = {name: ways for name, ways in found.items() if len(ways) == 1}
    return {name: indices for name, ways in alike.items() for indices in ways if indices}


def restored(module: Any, declared: Declared) -> Any:
    """The module with packed calls of those functions as they were declared; itself where there are none."""
    changed = {}
    for variable, function in relax_functions(module):
        restorer = _Restorer(declared)
        after = restorer.visit_expr(function)
        if restorer.restored:
            changed[variable] = after
    if not changed:
        return module
    result = module.clone()
    for name, function in changed.items():
        result.update_func(result.get_global_var(name), function)
    return result


@mutator
class _Restorer(PyExprMutator):  # type: ignore[misc]
    def __init__(self, declared: Declared) -> None:
        super().__init__()
        self._declared = declared
        self.restored = 0

    def visit_call_(self, call: Any) -> Any:
        """A packed call."""
        name = str(call.op.global_symbol) if isinstance(call.op, relax.ExternFunc) else ""
        if name not in self._declared:
            return super().visit_call_(call)
        types = {_TYPES: list(getattr(call, _TYPES))}
        indices = list(self._declared[name])
        try:
            found = self.builder_.normalize(
                relax.op.call_inplace_packed(call.op, *call.args, inplace_indices=indices, **types)
            )
        except ValueError:
            # A pass has dropped the shape of the argument, and TVM wants that of the result. It stays a
            # call of an unknown function.
            return super().visit_call_(call)
        self.restored += 1
        return found
