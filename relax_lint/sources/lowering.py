"""`--lower`: the default pipeline of a target, up to and including memory planning. Imports TVM."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import tvm
from tvm import relax

from relax_lint.model.positions import NoPositions, Positions
from relax_lint.results.location import Location
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.sources.legalizing import failing_operator
from relax_lint.sources.reasons import reason
from relax_lint.sources.unit import ParsedUnit, Skipped
from relax_lint.support.errors import UserError
from relax_lint.vm import constants, versions
from relax_lint.vm.builtins import BUILTINS

_PLANNING = "StaticPlanBlockMemory"
_FOLDING = "FoldConstant"
_LEGALIZING = "LegalizeOps"
_ALLOCATIONS = frozenset(name.removeprefix("relax.") for name, row in BUILTINS.items() if row.allocates)


class LoweringError(UserError):
    """A module cannot be lowered; the message is TVM's reason."""


def read_target(text: str) -> Any:
    """The target of a name or a JSON object. Raises LoweringError where TVM has no pipeline for it."""
    try:
        target = tvm.target.Target(text)
        relax.get_default_pipeline(target)
    except Exception as error:
        words = reason(str(error))
        raise LoweringError(f"`{text}` is not a target that TVM can lower for: {words}") from None
    return target


def lower_unit(unit: ParsedUnit, target: str, *, required: bool = True) -> ParsedUnit:
    """The unit as it is after memory planning, without positions but those of functions; as it stands where
    it allocates explicitly already. Where a pass fails RLX904 is beside it; a note, unless it is `required`.
    Raises MemoryError.
    """
    if allocates(unit.ir_module) or not (required or computes(unit.ir_module)):
        return unit
    try:
        module = _lowered_with(unit.called_unseen, unit.ir_module, target)
    except LoweringError as error:
        if not required:
            subject = unit.module_name or "this module"
            note = f"`{subject}` cannot be lowered for `{target}`: {error}"
            return replace(unit, notes=(*unit.notes, note))
        where = _first_function(unit)
        message = f"TVM cannot lower this for `{target}`: {error}"
        problem = Problem(ProblemKind.ANALYSIS_FAILED, message, where, unit.module_name)
        return replace(unit, skipped=(*unit.skipped, Skipped(message, where, None, problem)))
    notes = [f"lowered for `{target}` up to memory planning"]
    why = _why_not_folded(unit.ir_module)
    if why:
        notes.append(f"constants were not folded, because {why}")
    positions = _FunctionPositions(unit.positions)
    return replace(
        unit,
        ir_module=module,
        positions=positions,
        notes=(*unit.notes, *notes),
        depends=_for_all(module, unit.depends),
    )


def _lowered_with(called_unseen: Collection[str], module: Any, target: str) -> Any:
    """The lowered module with these functions: passes drop what is private and never called."""
    functions = dict(versions.relax_functions(module))
    kept = {name for name in functions.keys() & called_unseen if versions.is_private(functions[name])}
    if not kept:
        return lowered(module, target)
    public = module.clone()
    for name in sorted(kept):
        public[public.get_global_var(name)] = functions[name].with_attr("global_symbol", name)
    found = lowered(public, target)
    for name, function in versions.relax_functions(found):
        if name in kept:
            found[found.get_global_var(name)] = function.without_attr("global_symbol")
    return found


def _for_all(module: Any, depends: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """What any function depends on, for all of them: passes make functions of parts of others."""
    texts = tuple(dict.fromkeys(text for found in depends.values() for text in found))
    return {name: texts for name, _ in versions.relax_functions(module)} if texts else {}


def lowered(module: Any, target: str) -> Any:
    """The module after the target's default pipeline, up to and including memory planning; the module itself
    where it allocates explicitly already.

    Constants are folded, which runs the kernels that TVM makes of operators, unless the module brings
    kernels of its own, which are never run, or omits the elements of constants. Raises LoweringError and
    MemoryError.
    """
    device = read_target(target)
    if allocates(module):
        return module
    passes = _UpToPlanning(fold=not _why_not_folded(module))
    try:
        with warnings.catch_warnings(), device, tvm.transform.PassContext(instruments=[passes]):
            warnings.simplefilter("ignore")
            return relax.get_default_pipeline(device)(module)
    except MemoryError:
        raise
    except Exception as error:
        raise LoweringError(passes.at_fault() + reason(str(error) or type(error).__name__)) from None


def allocates(module: Any) -> bool:
    """Whether a Relax function of the module has an explicit allocation."""
    return versions.has_call(module, lambda node: versions.operator_name(node) in _ALLOCATIONS)


def computes(module: Any) -> bool:
    """Whether a Relax function of the module calls an operator or a kernel."""
    return versions.has_call(module, lambda node: bool(versions.operator_name(node)))


def _why_not_folded(module: Any) -> str:
    """Why constants may not be folded; empty where they may be."""
    if versions.prim_functions(module):
        return "that would run kernels of this input"
    return "the text omits their elements" if constants.has_omitted(module) else ""


@tvm.ir.instrument.pass_instrument
class _UpToPlanning:
    """Leaves out every pass after memory planning and, unless `fold`, the folding of constants."""

    def __init__(self, fold: bool) -> None:
        self._fold = fold
        self._planned = False
        self._running: list[tuple[str, Any]] = []

    def should_run(self, module: Any, info: Any) -> bool:
        """Whether a pass is run."""
        return not self._planned and (self._fold or info.name != _FOLDING)

    def run_before_pass(self, module: Any, info: Any) -> None:
        """Note which pass begins, and with what."""
        self._running.append((str(info.name), module))

    def run_after_pass(self, module: Any, info: Any) -> None:
        """Note that planning is done."""
        self._planned = self._planned or info.name == _PLANNING
        if self._running:
            self._running.pop()

    def at_fault(self) -> str:
        """The pass that did not end, and the operator of the module that it fails at, in words."""
        if not self._running:
            return ""
        name, module = self._running[-1]
        operator = failing_operator(module) if name == _LEGALIZING else None
        return f"`{name}` fails" + (f" at `{operator}`: " if operator else ": ")


class _FunctionPositions(NoPositions):
    """Passes drop the places of statements; functions keep their names."""

    def __init__(self, positions: Positions) -> None:
        self._positions = positions

    def function(self, name: str) -> Location | None:
        """The line of the `def` of a function."""
        return self._positions.function(name)

    def attributes(self, name: str) -> Location | None:
        """The `R.func_attr` call of a function."""
        return self._positions.attributes(name)


def _first_function(unit: ParsedUnit) -> Location | None:
    names = [name for name, _ in versions.relax_functions(unit.ir_module)]
    return unit.positions.function(names[0]) if names else None
