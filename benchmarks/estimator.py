"""The memory report beside TVM's `relax.analysis.estimate_memory_usage`.

    python benchmarks/estimator.py time [--layers 32] [--runs 5]   in units of TVM's estimator and parser
    python benchmarks/estimator.py answers FOLDER... [--every 5]   modules where only one of them answers

`time` takes planned transformers in one process, CPU time, medians. `answers` takes the modules of the Python
files below folders of public sources, as they stand and after planning for the CPU; each file is read in a
process of its own. A text is compared byte for byte where TVM's function returns one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

PATIENCE_S = 120
SHOWN = 15


def compare_times(layers: int, runs: int) -> None:
    import tvm
    from tvm import relax

    from benchmarks.analysis_time import timed
    from relax_lint.model.builder import build_program
    from relax_lint.totals.compute import measure
    from relax_lint.totals.estimates import estimates
    from tests.programs.transformer import binding_count, lowered

    def median(work: Callable[[], Any], count: int = runs) -> float:
        return statistics.median(timed(work, count))

    for bounded in (True, False):
        module = lowered(layers, bounded=bounded, stage="killed")
        text = module.script()

        def totals(module: Any = module) -> None:
            program = build_program(module)
            for function in program.functions:
                measure(program, function)

        parse = median(lambda text=text: tvm.script.from_source(text), 3)
        whole = median(totals)
        name = f"{layers} layers, {'bounded' if bounded else 'unbounded'}, {binding_count(module)} bindings"
        print(f"{name}: all totals in {100 * whole / parse:.1f} % of TVM's parse")
        try:
            estimator = median(lambda module=module: relax.analysis.estimate_memory_usage(module))
        except AttributeError:
            print("  TVM's estimator raises")
            continue
        same = median(lambda module=module: estimates(build_program(module)))
        print(f"  all totals take {whole / estimator:.1f} times as long as its estimator,")
        print(f"  what its estimator counts {same / estimator:.1f} times")


def modules(path: Path) -> Iterator[tuple[str, Any]]:
    from relax_lint.sources.lowering import LoweringError, allocates, lowered
    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.reading import read_units
    from relax_lint.sources.unit import ParsedUnit

    for unit in read_units(path.read_bytes(), str(path)).units:
        parsed = parse_unit(unit)
        if not isinstance(parsed, ParsedUnit) or parsed.ill_formed:
            continue
        yield f"{path.name}:{unit.line} {unit.name}", parsed.ir_module
        try:
            module = None if allocates(parsed.ir_module) else lowered(parsed.ir_module, "llvm")
        except LoweringError:
            module = None
        if module is not None and allocates(module):
            yield f"{path.name}:{unit.line} {unit.name}, planned", module


def judge(path: Path, answers: Any) -> None:
    """Send (module, what came out, TVM's reason) for every module of a file."""
    from tvm import relax

    from relax_lint.model.builder import build_program
    from relax_lint.output.tvm import text
    from relax_lint.totals.compute import measure
    from relax_lint.totals.estimates import estimates

    for name, module in modules(path):
        reason = ""
        try:
            expected = relax.analysis.estimate_memory_usage(module)
        except Exception as error:
            expected, reason = None, f"{type(error).__name__}: {str(error).splitlines()[0][:70]}"
        try:
            program = build_program(module)
            ours = text(estimates(program))
            for function in program.functions:
                measure(program, function)
        except Exception as error:
            answers.put((name, "ours fails", f"{type(error).__name__}: {error}"[:100]))
            continue
        if expected is None:
            answers.put((name, "only ours answers", reason))
        else:
            answers.put((name, "same text" if ours == expected else "other text", ""))
    answers.put(None)


def compare_answers(folders: list[Path], every: int) -> None:
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))][::every]
    tally: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    listed: list[str] = []
    context = multiprocessing.get_context("fork")
    read = 0
    try:
        for file in files:
            answers: Any = context.SimpleQueue()
            process = context.Process(target=judge, args=(file, answers))
            process.start()
            end = time.monotonic() + PATIENCE_S
            while (process.is_alive() or not answers.empty()) and time.monotonic() < end:
                if answers.empty():
                    process.join(0.01)
                    continue
                answer = answers.get()
                if answer is None:
                    break
                name, outcome, reason = answer
                tally[outcome] += 1
                if reason:
                    reasons[reason] += 1
                if outcome != "same text":
                    listed.append(f"{outcome}: {name}  {reason}")
            process.kill()
            process.join()
            read += 1
    except KeyboardInterrupt:
        print("interrupted: the figures so far")
    total = sum(tally.values())
    print(f"{read} of {len(files)} files, {total} modules")
    for outcome, count in tally.most_common():
        print(f"{count:>6} {100 * count / total:5.1f} %  {outcome}")
    for reason, count in reasons.most_common(SHOWN):
        print(f"{count:>6}  {reason}")
    print("\n".join(listed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    timing = commands.add_parser("time")
    timing.add_argument("--layers", type=int, default=32)
    timing.add_argument("--runs", type=int, default=5)
    answering = commands.add_parser("answers")
    answering.add_argument("folders", nargs="+", type=Path)
    answering.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    if options.command == "time":
        compare_times(options.layers, options.runs)
    else:
        compare_answers(options.folders, options.every)


if __name__ == "__main__":
    main()
