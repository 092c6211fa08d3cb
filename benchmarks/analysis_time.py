"""What a worker does with a printed dump against TVM's parse of the same text, for planned transformers.

python -m benchmarks.analysis_time [--layers 2 8 32 128] [--runs 7] [--select RLX1 RLX50]

All in one process; times are medians of CPU time. `worker` is all that a worker does once TVM is loaded, as
it does it: units are found, the gate, the dialect, TVM's parser, positions, rules, totals, the answer as
JSON, with the collector as a worker sets it. `reading` is the part up to the module with its positions,
`judging` what follows on it, `first` its first run, which is what a single invocation of the linter sees
(sympy's own caches are cold then). `parse` is `tvm.script.from_source`. Needs TVM 0.27, which reads its own
dumps.
"""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any

import tvm

from benchmarks.common import in_turns, options, table
from relax_lint.judging.report import check_parsed
from relax_lint.results.report import UnitResult
from relax_lint.results.verdict import Prover
from relax_lint.running.file_task import analyse
from relax_lint.running.messages import FileData
from relax_lint.settings.config import Config
from relax_lint.sources.opaque.reading import read_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit
from tests.programs.transformer import binding_count, lowered

PARSE_RUNS = 3
"""Parsing a large module takes seconds and hardly varies."""
HEAD = (
    *("layers", "bound", "bindings", "kB", "checks", "parse"),
    *("reading", "judging", "first", "worker", "worker / parse", "judging each binding"),
)


def _row(layers: int, bounded: bool, runs: int, config: Config) -> tuple[list[str], UnitResult]:
    module = lowered(layers, bounded=bounded, stage="killed")
    text = module.script()
    file = FileData(text.encode(), "dump.py", "python", True)
    (unit,) = read_units(file.data, file.path).units
    parsed = read_unit(unit)
    assert isinstance(parsed, ParsedUnit)

    def work() -> Any:
        return list(analyse(file, config, 0))

    judging = in_turns([lambda: check_parsed(parsed, file.path, config)], runs)[0]
    # It sets the collector as a worker does.
    work()
    works = [lambda: tvm.script.from_source(text), lambda: read_unit(unit), work]
    parse, reading, worker = map(median, in_turns(works, PARSE_RUNS))
    result, bindings = check_parsed(parsed, file.path, config), binding_count(module)
    cells = [str(layers), "yes" if bounded else "no", str(bindings), str(len(text) // 1000)]
    cells += [
        str(len(result.checks)),
        f"{parse:.2f} s",
        f"{reading:.2f} s",
        f"{1000 * median(judging):.0f} ms",
    ]
    cells += [f"{1000 * judging[0]:.0f} ms", f"{worker:.2f} s", f"{worker / parse:.2f}x"]
    return [*cells, f"{1e6 * median(judging) / bindings:.0f} us"], result


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
