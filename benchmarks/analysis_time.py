"""Analysis time against TVM's parse time of the same text, for planned transformers of growing size.

python -m benchmarks.analysis_time [--layers 2 8 32 128] [--runs 7] [--select RLX1 RLX50]

All in one process; times are medians of CPU time, beside the analysis also its first run, which is
what a single invocation of the linter sees (sympy's own caches are cold then). The analysis is all
that happens after parsing: memory program, rules, totals. Needs TVM 0.27, which reads its own dumps.
"""

from __future__ import annotations

from collections import Counter
from statistics import median

import tvm

from benchmarks.common import in_turns, options, table
from relax_lint.judging.report import check_module
from relax_lint.results.report import UnitResult
from relax_lint.results.verdict import Prover
from relax_lint.settings.config import Config
from tests.programs.transformer import binding_count, lowered

PARSE_RUNS = 3
"""Parsing a large module takes seconds and hardly varies."""
HEAD = ("layers", "bound", "bindings", "kB", "checks", "parse", "analysis", "first", "ratio", "per binding")


def _row(layers: int, bounded: bool, runs: int, config: Config) -> tuple[list[str], UnitResult]:
    module = lowered(layers, bounded=bounded, stage="killed")
    text = module.script()
    parsing = median(in_turns([lambda: tvm.script.from_source(text)], PARSE_RUNS)[0])
    times = in_turns([lambda: check_module(module, config)], runs)[0]
    analysis, bindings, result = median(times), binding_count(module), check_module(module, config)
    cells = [str(layers), "yes" if bounded else "no", str(bindings), str(len(text) // 1000)]
    cells += [str(len(result.checks)), f"{parsing:.2f} s", f"{1000 * analysis:.0f} ms"]
    cells += [f"{1000 * times[0]:.0f} ms", f"{100 * analysis / parsing:.1f} %"]
    return [*cells, f"{1e6 * analysis / bindings:.0f} us"], result


def main() -> None:
    arguments = options(__doc__, layers=[2, 8, 32, 128], runs=7, select=[])
    config = Config(select=tuple(arguments.select))
    rows, provers = [], []
    for layers in arguments.layers:
        for bounded in (True, False):
            row, result = _row(layers, bounded, arguments.runs, config)
            rows.append(row)
            count = Counter(check.prover for check in result.checks)
            provers.append([*row[:2], *(f"{100 * count[p] / len(result.checks):.1f} %" for p in Prover)])
    print(f"TVM {tvm.__version__}, medians of {arguments.runs} runs ({PARSE_RUNS} of the parser)\n")
    print(table(HEAD, rows))
    print("\nverdicts by prover\n\n" + table(("layers", "bound", *(p.value for p in Prover)), provers))


if __name__ == "__main__":
    main()
