"""The subprocess in which the findings of one input are run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import TracebackType

from relax_lint.replay.cases import Case, Prepared
from relax_lint.replay.guard import GuardUnavailableError
from relax_lint.replay.machine import Machine, Module, Outcome, RunResult
from relax_lint.replay.notation import describe
from relax_lint.replay.values import parse_input
from relax_lint.results.confirmation import Confirmation, Run, Status, Symptom
from relax_lint.running.sandbox.gaps import AUTO
from relax_lint.support.escaping import without_addresses
from relax_lint.support.lazy_dataclass import dataclass

_REFUSAL = re.compile(r" is needed[^;]*; match_cast error")

_SHOWN_CHARACTERS = 160

# What depends on the bytes that memory happens to hold differs between the two.
_ONE_FILLING, _OTHER_FILLING = 0xAA, 0x55
_GUARD_BYTES = 2 << 30
_NEGATIVE_EXTENT = re.compile(r"\[.*-\d.*\]")
_NO_FUNCTION = "Cannot find"


@dataclass(frozen=True)
class _Call:
    """A call of a function of one module, with the texts of its arguments."""

    function: str
    names: tuple[str, ...]
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        given = zip(self.names, self.arguments, strict=True)
        return f"{self.function}({', '.join(f'{name}: {text}' for name, text in given)})"


class _UnrunnableError(Exception):
    """The call was not made; the text says why."""


class Session:
    """Runs calls, each once for every way of running it: `time_limit` seconds for a run, `memory_limit` bytes
    of address space, `sandbox` as for workers.
    """

    def __init__(self, *, time_limit: float, memory_limit: int, sandbox: str = AUTO) -> None:
        self._machine = Machine(time_limit=time_limit, memory_limit=memory_limit, sandbox=sandbox)
        self._guarded: Machine | None = None
        self._no_guard = ""
        try:
            # The guard takes address space of its own.
            limit = memory_limit + _GUARD_BYTES
            self._guarded = Machine(time_limit=time_limit, memory_limit=limit, guarded=True, sandbox=sandbox)
        except GuardUnavailableError as error:
            self._no_guard = f"; {error}"
        self._known: dict[tuple[object, ...], RunResult] = {}

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for machine in filter(None, (self._machine, self._guarded)):
            machine.restart()

    def confirmation(
        self, prepared: Prepared, case: Case, function: str, symptoms: frozenset[Symptom]
    ) -> Confirmation:
        """What the runs of one finding show. It is confirmed when the wrong example has one of the symptoms
        and the fine example, with the same contents of its tensors, has none.
        """
        if case.reason:
            return Confirmation(Status.NOT_RUNNABLE, case.reason)
        try:
            return self._confirmation(_Watch(self, prepared, symptoms), case, function)
        except _UnrunnableError as error:
            return Confirmation(Status.NOT_RUNNABLE, str(error))

    def _confirmation(self, watch: _Watch, case: Case, function: str) -> Confirmation:
        def call(arguments: tuple[str, ...]) -> _Call:
            return _Call(function, case.names, arguments)

        first: tuple[Run, ...] = ()
        reason = f"the failing example ran without a visible failure{self._no_guard}"
        for number, arguments in enumerate(case.wrong):
            runs = watch.runs("wrong", call(arguments))
            seen = watch.seen(runs)
            first = first or runs
            if seen is None:
                reason = _other_failure(runs) or reason
                continue
            # That a call goes through is no misbehaviour: the fine one goes through as well.
            with_fine = case.fine and seen.symptom is not Symptom.ACCEPTED
            fine = watch.runs("fine", call(case.fine[number])) if with_fine else ()
            if watch.seen(fine) is not None:
                reason = "the safe example does not run either"
                first = (*runs, *fine)
                continue
            later = tuple(
                run
                for allocator, arguments_then in sorted((case.first_failures or {}).items())
                for run in watch.runs("first failure", call(arguments_then))
                if run.how == allocator
            )
            return Confirmation(Status.CONFIRMED, _headline(seen), (*runs, *later, *fine))
        status = Status.NOT_RUNNABLE if _other_failure(first) else Status.NOT_CONFIRMED
        return Confirmation(status, reason, first)

    def run(self, module: Module, call: _Call, allocator: str) -> RunResult:
        """The result of a call. Raises _UnrunnableError where it was not made."""
        return self._run(self._machine, module, call, allocator, _ONE_FILLING)

    def run_watched(self, module: Module, call: _Call) -> RunResult:
        """The result of a call with the naive allocator, other bytes in new memory and, where there is one,
        the guard.
        """
        return self._run(self._guarded or self._machine, module, call, "naive", _OTHER_FILLING)

    def _run(self, machine: Machine, module: Module, call: _Call, allocator: str, fill: int) -> RunResult:
        key = (module.key, call, allocator, fill)
        if key not in self._known:
            inputs = [parse_input(text) for text in call.arguments]
            self._known[key] = machine.run(module, call.function, inputs, allocator=allocator, fill=fill)
        result = self._known[key]
        why = _unrunnable(result)
        if why is not None:
            raise _UnrunnableError(why)
        return result

    def forget_memory(self) -> None:
        """Replace the process: its heap may be damaged."""
        self._machine.restart()


def _is_refusal(message: str | None) -> bool:
    """Whether the virtual machine says that a check failed which `--fix` inserted as a builtin."""
    return message is not None and _REFUSAL.search(message) is not None


class _Watch:
    """Runs of one module, looked at for certain symptoms."""

    def __init__(self, session: Session, prepared: Prepared, symptoms: frozenset[Symptom]) -> None:
        self._session = session
        self._module = Module(prepared.module, "json")
        self._reference = None if prepared.reference is None else Module(prepared.reference, "json")
        self._symptoms = symptoms

    def seen(self, runs: tuple[Run, ...]) -> Run | None:
        """The first run with one of the symptoms."""
        return next((run for run in runs if run.symptom in self._symptoms), None)

    def runs(self, example: str, call: _Call) -> tuple[Run, ...]:
        """A call with both allocators and, where nothing is seen so far, with what makes silence speak."""
        results = {name: self._session.run(self._module, call, name) for name in ("naive", "pooled")}
        if example == "wrong" and Symptom.OUT_OF_BOUNDS in self._symptoms:
            self._session.forget_memory()
        runs = [
            Run(example, str(call), name, _shown(result), self._symptom(result))
            for name, result in results.items()
        ]
        if self.seen(tuple(runs)) is None and all(r.outcome is Outcome.OK for r in results.values()):
            runs += self._silent(example, call, results)
        return tuple(runs)

    def _symptom(self, result: RunResult) -> Symptom | None:
        stopped = result.error_type == "AssertionError" or _is_refusal(result.message)
        if Symptom.ACCEPTED in self._symptoms and not stopped:
            return Symptom.ACCEPTED
        if result.outcome is Outcome.SIGNAL:
            return Symptom.CRASH
        if result.outcome is Outcome.ERROR:
            return Symptom.STOPPED if stopped else Symptom.ERROR
        if any(_NEGATIVE_EXTENT.search(output.text) for output in result.outputs):
            return Symptom.NEGATIVE_EXTENT
        return None

    def _silent(self, example: str, call: _Call, results: Mapping[str, RunResult]) -> list[Run]:
        runs = []
        naive, pooled = results["naive"], results["pooled"]
        if self._symptoms & {Symptom.INDETERMINATE, Symptom.OUT_OF_BOUNDS}:
            watched = self._session.run_watched(self._module, call)
            runs.append(self._watched(example, call, watched, naive))
        if Symptom.INDETERMINATE in self._symptoms and pooled.digest != naive.digest:
            runs.append(
                Run(example, str(call), "pooled, compared with naive", _shown(pooled), Symptom.INDETERMINATE)
            )
        if Symptom.WRONG_NUMBERS in self._symptoms and self._reference is not None:
            right = self._session.run(self._reference, call, "naive")
            differs = right.outcome is Outcome.OK and right.digest != naive.digest
            symptom = Symptom.WRONG_NUMBERS if differs else None
            runs.append(Run(example, str(call), "each tensor on its own storage", _shown(right), symptom))
        return runs

    def _watched(self, example: str, call: _Call, result: RunResult, naive: RunResult) -> Run:
        how = "naive, with new memory filled with other bytes"
        if result.damage is not None:
            how, outcome = "naive, guarded", f"{result.damage}"
            return Run(example, str(call), how, outcome, Symptom.OUT_OF_BOUNDS)
        symptom = self._symptom(result)
        if symptom is None and result.digest != naive.digest:
            symptom = Symptom.INDETERMINATE
        return Run(example, str(call), how, _shown(result), symptom)


def _other_failure(runs: tuple[Run, ...]) -> str:
    """What ended the failing example before the expected failure; empty if nothing did."""
    failed = [run for run in runs if run.example == "wrong" and run.symptom is not None]
    return f"the call failed for another reason: {failed[0].outcome}" if failed else ""


def _unrunnable(result: RunResult) -> str | None:
    text = describe(result)
    if result.outcome is Outcome.TIMEOUT:
        return "a run took longer than the time limit"
    if result.stage != "run":
        return f"it cannot be called: {text}"
    if result.outcome is Outcome.ERROR and _NO_FUNCTION in (result.message or ""):
        return f"a function that it calls does not exist: {text}"
    return None


def _shown(result: RunResult) -> str:
    text = without_addresses(describe(result))
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 3]}..."


def _headline(run: Run) -> str:
    words = {
        Symptom.WRONG_NUMBERS: "the results differ from those with each tensor on its own storage",
        Symptom.INDETERMINATE: "the results depend on the previous contents of memory",
        Symptom.ACCEPTED: "the call runs without an error",
    }
    what = words.get(run.symptom, run.outcome) if run.symptom is not None else run.outcome
    return f"`{run.call}`: {what}" if run.symptom in words else f"`{run.call}` on {run.how}: {what}"
