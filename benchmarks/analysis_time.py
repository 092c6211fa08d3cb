"""Analysis time against TVM's parse time of the same text, for planned transformers of growing size.

    python benchmarks/analysis_time.py [--layers 2 8 32 128] [--runs 7] [--select RLX1 RLX50]

All in one process; times are medians of CPU time, beside the analysis also its first run, which is
what a single invocation of the linter sees (sympy's own caches are cold then). The analysis is all
that happens after parsing: memory program, rules, totals. Needs TVM 0.27, which reads its own dumps.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tvm

from relax_lint.judging.report import UnitResult, check_module
from relax_lint.results.verdict import Prover
from relax_lint.settings.config import Config
from tests.programs.transformer import binding_count, lowered

# Parsing a large module takes seconds and hardly varies.
PARSE_RUNS = 3


def timed(work: Callable[[], Any], runs: int) -> list[float]:
    """CPU seconds of each of several runs: other load on the machine does not count."""
    times = []
    for _ in range(runs):
        # As the workers do: TVM's own heap is not searched again and again.
        gc.collect()
        gc.freeze()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return times


def share_by_prover(result: UnitResult) -> str:
    """The checks decided by each prover, in percent."""
    count = Counter(check.prover for check in result.checks)
    shares = (f"{prover.value} {100 * count[prover] / len(result.checks):.1f} %" for prover in Prover)
    return ", ".join(shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, nargs="+", default=[2, 8, 32, 128])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--select", nargs="+", default=[], help="codes or prefixes; default: all rules")
    arguments = parser.parse_args()
    config = Config(select=tuple(arguments.select))
    print(f"TVM {tvm.__version__}, medians of {arguments.runs} runs ({PARSE_RUNS} of the parser)")
    print(
        f"{'layers':>6} {'bound':>5} {'bindings':>8} {'kB':>6} {'checks':>6} {'parse':>9} {'analysis':>9} "
        f"{'first':>9} {'ratio':>7} {'per binding':>11}"
    )
    provers = []
    for layers in arguments.layers:
        for bounded in (True, False):
            module = lowered(layers, bounded=bounded, stage="killed")
            text = module.script()
            parsing = statistics.median(timed(lambda text=text: tvm.script.from_source(text), PARSE_RUNS))
            times = timed(lambda module=module: check_module(module, config), arguments.runs)
            analysis, bindings = statistics.median(times), binding_count(module)
            result = check_module(module, config)
            name = "yes" if bounded else "no"
            print(
                f"{layers:>6} {name:>5} {bindings:>8} {len(text) // 1000:>6} {len(result.checks):>6} "
                f"{parsing:>7.2f} s {1000 * analysis:>6.0f} ms {1000 * times[0]:>6.0f} ms "
                f"{100 * analysis / parsing:>5.1f} % {1e6 * analysis / bindings:>8.0f} us",
                flush=True,
            )
            provers.append((layers, name, share_by_prover(result)))
    print("\nverdicts by prover")
    for layers, name, shares in provers:
        print(f"{layers:>6} {name:>5}   {shares}")


if __name__ == "__main__":
    main()
