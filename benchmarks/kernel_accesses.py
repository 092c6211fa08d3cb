"""What is said of each access of kernels: Relax's operators, language models, GPU schedules, TVM's own tests.

python -m benchmarks.kernel_accesses [CORPUS...] [--sources FOLDER...] [--show undecided wrong] [--slow 5]
python -m benchmarks.kernel_accesses --mlc FOLDER [--targets cuda metal] [--models llama qwen2]

Without a name every collection of `benchmarks.kernel_corpora` is measured; with `--sources` every PrimFunc
that can be read in the Python files of these folders as well, for example of a checkout of apache/tvm
(`tests/python`). Nothing in them is executed, and each file is read in a process of its own. With `--mlc`, a
checkout of mlc-ai/mlc-llm whose Python code is executed, its models are measured alone, after its own passes.

Each call of a kernel is judged once; a PrimFunc that nothing calls is called with tensors of its own shapes.
*proved*: inside its buffer in every call; *depends*: the exact condition is known; *assumed*: if the indices
in an argument are good; *wrong*: outside in some step of every call; *undecided*: with the reasons by count.
`--show` prints the accesses with these words, `--slow` the kernels that took longest.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tvm

from benchmarks.common import options, table
from benchmarks.corpus import isolated
from benchmarks.kernel_callers import called
from benchmarks.kernel_corpora import CORPORA, sources, uncalled
from benchmarks.mlc_models import load, with_kernels
from relax_lint.facts.kernel_access_verdicts import CallVerdict, Status
from relax_lint.judging.module import ModuleJudge
from relax_lint.rule import unreadable_codes
from relax_lint.settings.config import Config

HEAD = ("kernels of", "kernels", "accesses", *(status.name.lower() for status in Status), "proved %", "ms")
CONFIG = Config(select=unreadable_codes())
"""No rule is asked: the accesses are judged, and timed, here."""


@dataclass
class Found:
    """The counts over the kernels of one collection."""

    kernels: int = 0
    seconds: float = 0.0
    statuses: Counter[Status] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    not_judged: Counter[str] = field(default_factory=Counter)
    shown: list[tuple[Status, str]] = field(default_factory=list)
    times: list[tuple[float, str]] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """The counts of some more kernels."""
        self.kernels += other.kernels
        self.seconds += other.seconds
        self.statuses += other.statuses
        self.reasons += other.reasons
        self.not_judged += other.not_judged
        self.shown += other.shown
        self.times += other.times

    def row(self, title: str) -> tuple[str, ...]:
        """A row of the table."""
        total = sum(self.statuses.values())
        share = f"{100 * self.statuses[Status.PROVED] / total:.1f}" if total else "-"
        numbers = [f"{self.statuses[status]:,}" for status in Status]
        return title, f"{self.kernels:,}", f"{total:,}", *numbers, share, f"{1000 * self.seconds:.0f}"


def of_module(name: str, module: Any) -> Found:
    """What is said of the kernels of a module, those that nothing calls included."""
    found = Found()
    _judge(found, name, module)
    for kernel, function in uncalled(module):
        try:
            _judge(found, f"{name}: {kernel}", called(function))
        except Exception as error:
            found.not_judged[f"{type(error).__name__}: {error}"[:100]] += 1
    return found


def _judge(found: Found, name: str, module: Any) -> None:
    for judged in ModuleJudge(module, CONFIG).functions():
        for use in judged.facts.kernels.uses:
            started = time.process_time()
            verdict = judged.facts.indices.verdict(use)
            spent = time.process_time() - started
            found.seconds += spent
            found.times.append((spent, f"{name}: {use.kernel.name}"))
            _count(found, f"{name}: {use.kernel.name}", verdict)


def _count(found: Found, name: str, verdict: CallVerdict) -> None:
    found.kernels += 1
    found.statuses[Status.PROVED] += verdict.proved
    found.reasons.update(f"(the kernel) {reason}" for reason in verdict.unread)
    for one in verdict.open:
        found.statuses[one.status] += 1
        if one.status is Status.UNDECIDED:
            found.reasons[one.reason] += 1
        why = one.reason or ", ".join(assumed.text for assumed in one.assumptions)
        found.shown.append((one.status, f"{name}: {one.access.text}: {one.status.value}: {why}"))


def of_modules(modules: Iterable[tuple[str, Any]]) -> Found:
    """What is said of the kernels of some modules."""
    found = Found()
    for name, module in modules:
        found.add(of_module(name, module))
    return found


def of_sources(folder: Path) -> Found:
    """What is said of every kernel that can be read in the files of a folder."""
    found = Found()
    for path in sorted(folder.rglob("*.py")):
        result = isolated(_of_file, path)
        if isinstance(result, Found):
            found.add(result)
        else:
            found.not_judged.update(f"{kind}: {text}" for kind, text in result)
    return found


def _of_file(path: Path) -> Any:
    return of_modules(sources(path))


def of_models(target: str, models: Sequence[str]) -> Found:
    """What is said of the kernels of mlc-llm's models for a target."""
    found = Found()
    for name, module, reason in with_kernels(target, models):
        if module is None:
            found.not_judged[f"{name}: {reason}"[:140]] += 1
        else:
            found.add(of_module(f"{name} {target}", module))
    return found


def _rows(chosen: Any) -> Iterator[tuple[str, Found]]:
    if chosen.mlc:
        load(chosen.mlc)
        for target in chosen.targets:
            yield f"mlc-llm {target}", of_models(target, chosen.models)
        return
    for name in chosen.corpora or CORPORA:
        yield name, of_modules(CORPORA[name]())
    for folder in chosen.sources:
        yield folder, of_sources(Path(folder))


def main() -> None:
    mlc: dict[str, Any] = {"mlc": "", "targets": ["llvm", "cuda", "metal", "vulkan"], "models": [""]}
    chosen = options(__doc__, "corpora?", sources=[""], show=[""], slow=0, **mlc)
    chosen.models = [model for model in chosen.models if model]
    chosen.sources = [folder for folder in chosen.sources if folder]
    print(f"TVM {tvm.__version__}\n", flush=True)
    every = Found()
    print(table(HEAD, ()), flush=True)
    for name, found in _rows(chosen):
        every.add(found)
        print(f"| {' | '.join(found.row(name))} |", flush=True)
    for status, text in every.shown:
        if status.name.lower() in chosen.show:
            print(text)
    for title, counted in (
        ("undecided because", every.reasons),
        ("kernels not judged because", every.not_judged),
    ):
        if counted:
            print("\n" + table((title, "number"), counted.most_common(40)))
    for spent, name in sorted(every.times, reverse=True)[: chosen.slow]:
        print(f"{1000 * spent:8.0f} ms  {name}")


if __name__ == "__main__":
    main()
