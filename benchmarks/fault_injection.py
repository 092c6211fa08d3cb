"""Inject faults into planned modules, lint them, and let the virtual machine say whether they are faulty.

python -m benchmarks.fault_injection [--per-kind N] [--layers N]

A module counts as faulty when, with the naive or the pooled allocator, it cannot be built or run, dies,
touches memory beside what it was given (the guard sees it, where there is a C compiler), or gives other
numbers than the unbroken module. Each run is a process of its own. The seed is fixed.

Rules about waste (RLX207, RLX208, RLX602) report memory that is held for nothing: no run shows that, so what
only they report has a column of its own. Two inputs of one type that are exchanged are another program, not
a fault of memory.
"""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TVM_NUM_THREADS", "1")

import tvm
from tvm import relax

from benchmarks.common import options, table
from benchmarks.judging import fault, run_apart, run_guarded
from benchmarks.lowering import checks, findings, stages
from benchmarks.victims import Victim, victims

Bindings = list[Any]
Change = Callable[[Bindings, random.Random], "Bindings | None"]
WASTE = frozenset({"RLX207", "RLX208", "RLX602"})
COLUMNS = ("injected", "faulty", "detected", "missed", "harmless", "alarms", "notes", "waste")


def _named(binding: Any, *names: str) -> bool:
    return getattr(getattr(binding.value, "op", None), "name", "") in names


def _indices(bindings: Bindings, *names: str) -> list[int]:
    return [index for index, binding in enumerate(bindings) if _named(binding, *names)]


def _with_arguments(binding: Any, arguments: list[Any]) -> Any:
    call = binding.value
    return relax.VarBinding(binding.var, relax.Call(call.op, arguments, call.attrs, call.ty_args))


def _replaced(bindings: Bindings, index: int, binding: Any) -> Bindings:
    return [*bindings[:index], binding, *bindings[index + 1 :]]


def _is_kernel(binding: Any) -> bool:
    call = binding.value
    return isinstance(call, relax.Call) and isinstance(call.op, tvm.ir.GlobalVar)


def _uses(binding: Any, var: Any) -> bool:
    return any(var.same_as(used) for used in relax.analysis.free_vars(binding.value))


ALLOC_STORAGE = "relax.memory.alloc_storage"
ALLOC_TENSOR = "relax.memory.alloc_tensor"
KILL_TENSOR = "relax.memory.kill_tensor"
KILL_STORAGE = "relax.memory.kill_storage"


def shrink_a_storage(bindings: Bindings, rng: random.Random) -> Bindings | None:
    """A storage gets half of its bytes."""
    index = rng.choice(_indices(bindings, ALLOC_STORAGE))
    size, *rest = bindings[index].value.args
    half = relax.ShapeExpr([extent // 2 for extent in size.values])
    return _replaced(bindings, index, _with_arguments(bindings[index], [half, *rest]))


def shift_an_offset(bindings: Bindings, rng: random.Random) -> Bindings | None:
    """A tensor moves by 16 bytes, to either side."""
    index = rng.choice(_indices(bindings, ALLOC_TENSOR))
    storage, _, *rest = bindings[index].value.args
    offset = relax.prim_value(rng.choice((16, -16)))
    return _replaced(bindings, index, _with_arguments(bindings[index], [storage, offset, *rest]))


def kill_earlier(bindings: Bindings, rng: random.Random) -> Bindings | None:
    """A kill of a tensor or a storage moves one to four places forward."""
    kills = _indices(bindings, KILL_TENSOR, KILL_STORAGE)
    if not kills:
        return None
    index = rng.choice(kills)
    target = bindings[index].value.args[0]
    made = next((i for i, b in enumerate(bindings) if b.var.same_as(target)), None)
    place = index - rng.randint(1, 4)
    if made is None or place <= made:
        return None
    rest = [*bindings[:index], *bindings[index + 1 :]]
    return [*rest[:place], bindings[index], *rest[place:]]


def _storages_first(bindings: Bindings) -> Bindings:
    """The same program, all storages at its beginning and none killed: any tensor can take any."""
    rest = [binding for binding in bindings if not _named(binding, KILL_STORAGE)]
    storages = [binding for binding in rest if _named(binding, ALLOC_STORAGE)]
    return [*storages, *(binding for binding in rest if not _named(binding, ALLOC_STORAGE))]


def _on_storage(bindings: Bindings, index: int, storage: Any) -> Bindings:
    arguments = [storage, *bindings[index].value.args[1:]]
    return _replaced(bindings, index, _with_arguments(bindings[index], arguments))


def swap_two_storages(bindings: Bindings, rng: random.Random) -> Bindings | None:
    """Two tensors exchange their storages."""
    free = _storages_first(bindings)
    first, second = rng.sample(_indices(free, ALLOC_TENSOR), 2)
    a, b = (free[index].value.args[0] for index in (first, second))
    if a.same_as(b):
        return None
    return _on_storage(_on_storage(free, first, b), second, a)


def drop_a_kill(bindings: Bindings, rng: random.Random) -> Bindings | None:
    """A kill is left out."""
    kills = _indices(bindings, KILL_TENSOR, KILL_STORAGE)
    if not kills:
        return None
    index = rng.choice(kills)
    return [*bindings[:index], *bindings[index + 1 :]]


def move_into_a_branch(bindings: Bindings, rng: random.Random) -> Bindings | None:
    """A storage that is first used behind an `If` is allocated in one of its branches."""
    index = next((i for i, binding in enumerate(bindings) if isinstance(binding.value, relax.If)), None)
    if index is None:
        return None
    place = rng.choice([storage for storage in _indices(bindings, ALLOC_STORAGE) if storage > index])
    chosen = bindings[index].value
    parts = [chosen.true_branch, chosen.false_branch]
    side = rng.randrange(2)
    parts[side] = relax.SeqExpr(
        [relax.BindingBlock([bindings[place]]), *parts[side].blocks], parts[side].body
    )
    moved = relax.VarBinding(bindings[index].var, relax.If(chosen.cond, *parts))
    changed = _replaced(bindings, index, moved)
    return [*changed[:place], *changed[place + 1 :]]


def reuse_too_soon(bindings: Bindings, rng: random.Random) -> Bindings | None:
    """A tensor is put on the storage of the one before it."""
    free = _storages_first(bindings)
    tensors = _indices(free, ALLOC_TENSOR)
    later = rng.randrange(1, len(tensors))
    index, earlier = tensors[later], tensors[later - 1]
    storage = free[earlier].value.args[0]
    if storage.same_as(free[index].value.args[0]):
        return None
    return _on_storage(free, index, storage)


def _exchanged(bindings: Bindings, index: int, one: int, other: int) -> Bindings:
    arguments = list(bindings[index].value.args)
    arguments[one], arguments[other] = arguments[other], arguments[one]
    return _replaced(bindings, index, _with_arguments(bindings[index], arguments))


def exchange_input_and_output(bindings: Bindings, rng: random.Random) -> Bindings | None:
    """A kernel gets its output, the last argument, in the place of an input."""
    index = rng.choice([i for i, binding in enumerate(bindings) if _is_kernel(binding)])
    last = len(bindings[index].value.args) - 1
    return _exchanged(bindings, index, rng.randrange(last), last) if last else None


def exchange_two_inputs(bindings: Bindings, rng: random.Random) -> Bindings | None:
    """A kernel gets two of its inputs in the wrong order."""
    kernels = [i for i, binding in enumerate(bindings) if _is_kernel(binding)]
    wide = [index for index in kernels if len(bindings[index].value.args) > 2]
    if not wide:
        return None
    index = rng.choice(wide)
    return _exchanged(bindings, index, 0, 1)


KINDS: tuple[Change, ...] = (
    shrink_a_storage,
    shift_an_offset,
    kill_earlier,
    swap_two_storages,
    drop_a_kill,
    move_into_a_branch,
    reuse_too_soon,
    exchange_input_and_output,
    exchange_two_inputs,
)


def inject(module: Any, entry: str, change: Change, rng: random.Random) -> Any | None:
    """The module with a fault in `entry`; None where there is no place for it."""
    function = module[entry]
    bindings = [binding for block in function.body.blocks for binding in block.bindings]
    changed = change(bindings, rng)
    if changed is None:
        return None
    body = relax.SeqExpr([relax.BindingBlock(changed)], function.body.body)
    broken = tvm.IRModule(dict(module.functions_items()), attrs=module.attrs)
    broken[module.get_global_var(entry)] = relax.Function(
        function.params, body, function.ret_ty, function.is_pure, function.attrs
    )
    return broken


def killed(victim: Victim) -> Any:
    """The module after KillAfterLastUse."""
    return next(module for stage, module in stages(victim.module) if stage == "KillAfterLastUse")


def _reported(module: Any) -> Counter[tuple[str, str]]:
    """How often each rule reports something, by severity."""
    return Counter((check.rule, check.severity.value) for check in findings(checks(module)))


def _count(row: Counter[str], added: Counter[tuple[str, str]], wrong: str) -> set[str]:
    """Enter one fault in the row of its kind; the rules that report it."""
    new = {rule for rule, severity in added if severity in ("error", "warning")}
    every = {rule for rule, _ in added}
    row.update(("injected", "faulty" if wrong else "harmless"))
    if wrong:
        row["detected" if new - WASTE else "missed"] += 1
    elif new - WASTE:
        row["alarms"] += 1
    elif every:
        row["waste" if every <= WASTE else "notes"] += 1
    return every


def main() -> None:
    arguments = options(__doc__, per_kind=3, layers=1)
    run_guarded()
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    for victim in victims(arguments.layers):
        module = killed(victim)
        before = _reported(module)
        right = run_apart(module, victim, "naive")
        if right.error:
            raise SystemExit(f"{victim.name} does not run unbroken: {right.error}")
        rng = random.Random(f"1 {victim.name}")
        for change in KINDS:
            kind = change.__name__.replace("_", " ")
            for _ in range(arguments.per_kind):
                broken = inject(module, victim.entry, change, rng)
                if broken is not None:
                    wrong = fault(right, broken, victim)
                    rules = _count(tally[kind], _reported(broken) - before, wrong)
                    print(
                        f"{victim.name:18} {kind:26} {sorted(rules)!s:26} {wrong or 'harmless'}", flush=True
                    )
    print(f"\nTVM {tvm.__version__}\n")
    print(table(("kind", *COLUMNS), [(kind, *(row[c] for c in COLUMNS)) for kind, row in tally.items()]))


if __name__ == "__main__":
    main()
