"""Rewriting single bindings of a Relax function: everything else stays the very same nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from relax_lint.vm import versions

FORCE_PURE = "relax.force_pure"
"""The attribute of a function that counts as pure whatever it calls. Lowering gives it to every function."""


@dataclass
class Rewrites:
    """What is to be done to one function; its bindings are named by their index in program order.

    `entry` are new bindings before all others, `before` and `after` such beside an old one, `values` are new
    values of old ones, `removed` are left out. `impure` says that a new binding is an impure call. `kernels`
    are PrimFuncs that the module gets, with their variables.
    """

    entry: list[Any] = field(default_factory=list)
    before: dict[int, list[Any]] = field(default_factory=lambda: defaultdict(list))
    after: dict[int, list[Any]] = field(default_factory=lambda: defaultdict(list))
    values: dict[int, Any] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    attributes: dict[str, Any] = field(default_factory=dict)
    impure: bool = False
    kernels: list[tuple[Any, Any]] = field(default_factory=list)


Plan: TypeAlias = Mapping[int, Rewrites]
"""The rewrites of several functions, inner ones too, by the address of the function's node."""


def address(node: Any) -> int:
    """What tells a node from every other one that is alive."""
    return int(node.__chandle__())


def rewritten(function: Any, plan: Plan, *, is_called: bool) -> Any:
    """A function, and the functions inside it, with what is planned for them: itself where that is nothing.

    `is_called`: other functions of the module refer to it.
    """
    rewrites = plan.get(address(function), Rewrites())
    made = _with_body(function, _Rewriter(rewrites, plan).function_body(function.body))
    for name, value in rewrites.attributes.items():
        made = made.with_attr(name, value)
    if not rewrites.impure or not function.is_pure or _is_forced(function):
        return made
    # Its callers were told that it is pure, and so it is but for its checks.
    return made.with_attr(FORCE_PURE, True) if is_called else _with_body(made, made.body, pure=False)


def _with_body(function: Any, body: Any, *, pure: bool | None = None) -> Any:
    if body.same_as(function.body) and pure is None:
        return function
    # A body that has its type already may make the constructor narrow the result's.
    untyped = relax.SeqExpr(body.blocks, body.body, body.span)
    purity = bool(function.is_pure) if pure is None else pure
    made = relax.Function(function.params, untyped, function.ret_ty, purity, function.attrs, function.span)
    relax.expr._update_type(untyped, body.ty)
    return made


def called_functions(module: Any) -> frozenset[str]:
    """The functions that Relax functions of the module refer to."""
    return frozenset(
        str(var.name_hint)
        for _, function in versions.relax_functions(module)
        for var in relax.analysis.all_global_vars(function)
    )


def bindings_of(body: Any) -> list[Any]:
    """Every binding of a body in program order, those of branches right after their `If`."""
    found = []
    for block in body.blocks if _is_sequence(body) else ():
        for binding in block.bindings:
            found.append(binding)
            if versions.kind(binding.value) == "If":
                found += bindings_of(binding.value.true_branch)
                found += bindings_of(binding.value.false_branch)
    return found


class _Rewriter:
    """One walk over the bindings of a function, in the order in which they are counted."""

    def __init__(self, rewrites: Rewrites, plan: Plan) -> None:
        self._rewrites = rewrites
        self._plan = plan
        self._next_index = 0

    def function_body(self, body: Any) -> Any:
        """The body of the function, with what comes at its entry: itself where nothing changes."""
        made = self._sequence(body)
        entry = self._rewrites.entry
        if not entry:
            return made
        blocks = list(made.blocks)
        if blocks and not _is_dataflow(blocks[0]):
            blocks[0] = relax.BindingBlock([*entry, *blocks[0].bindings], blocks[0].span)
        else:
            blocks.insert(0, relax.BindingBlock(entry))
        return _with_blocks(made, blocks)

    def _sequence(self, body: Any) -> Any:
        if not _is_sequence(body):
            return body
        blocks = [self._block(block) for block in body.blocks]
        kept = [block for block in blocks if len(block.bindings) > 0]
        return body if _same(blocks, body.blocks) else _with_blocks(body, kept)

    def _block(self, block: Any) -> Any:
        inserted = False
        bindings: list[Any] = []
        for binding in block.bindings:
            index = self._next_index
            self._next_index += 1
            before, after = self._rewrites.before.get(index, []), self._rewrites.after.get(index, [])
            kept = [] if index in self._rewrites.removed else [self._binding(binding, index)]
            bindings += (*before, *kept, *after)
            inserted = inserted or bool(before or after)
        if _same(bindings, block.bindings):
            return block
        if not _is_dataflow(block):
            return relax.BindingBlock(bindings, block.span)
        # Every binding that is ever inserted is an impure call.
        return _out_of_dataflow(bindings) if inserted else relax.DataflowBlock(bindings, block.span)

    def _binding(self, binding: Any, index: int) -> Any:
        value = self._rewrites.values.get(index, binding.value)
        kind = versions.kind(value)
        if kind == "If":
            value = self._if(value)
        elif kind == "Function":
            value = rewritten(value, self._plan, is_called=True)
        if value.same_as(binding.value):
            return binding
        return relax.VarBinding(binding.var, value, binding.span)

    def _if(self, node: Any) -> Any:
        branches = [node.true_branch, node.false_branch]
        made = [self._sequence(branch) for branch in branches]
        if _same(made, branches):
            return node
        new = relax.If(node.cond, *made, node.span)
        relax.expr._update_type(new, node.ty)
        return new


@mutator
class _Renamer(PyExprMutator):  # type: ignore[misc]
    """Puts new variables in the place of old ones."""


def _out_of_dataflow(bindings: Sequence[Any]) -> Any:
    """An ordinary block with the bindings of a dataflow block, which may not hold impure calls."""
    renamer = _Renamer()
    made = []
    for binding in bindings:
        value = renamer.visit_expr(binding.value)
        var = binding.var
        if type(var).__name__ == "DataflowVar":
            var = relax.Var(var.name, var.ty, var.span)
            renamer.set_var_remap(binding.var, var)
        if type(binding).__name__ == "MatchCast":
            made.append(relax.MatchCast(var, value, binding.ty, binding.span))
        else:
            made.append(relax.VarBinding(var, value, binding.span))
    return relax.BindingBlock(made)


def _with_blocks(body: Any, blocks: Sequence[Any]) -> Any:
    made = relax.SeqExpr(list(blocks), body.body, body.span)
    relax.expr._update_type(made, body.ty)
    return made


def _same(made: Sequence[Any], old: Sequence[Any]) -> bool:
    return len(made) == len(old) and all(a.same_as(b) for a, b in zip(made, old, strict=True))


def _is_sequence(body: Any) -> bool:
    return type(body).__name__ == "SeqExpr"


def _is_dataflow(block: Any) -> bool:
    return type(block).__name__ == "DataflowBlock"


def _is_forced(function: Any) -> bool:
    return function.attrs is not None and bool(function.attrs.get(FORCE_PURE, False))
