"""Random claims against brute force: `python benchmarks/prover_soundness.py 20000 [--seed S] [--no-points]`.

Prints counts by verdict and prover, the undecided share and every violation; exit code 1 if there is one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from relax_lint.symbolic.decision import FailureStatus
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.prover import ProverChain
from tests.symbolic.brute_force import random_case, to_sympy, violations


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("claims", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-points", action="store_true", help="no deciding by trying all points")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    chain = ProverChain(max_points=0) if arguments.no_points else ProverChain()
    verdicts: Counter[str] = Counter()
    first: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    times = []
    slow_ff = 0.0
    for number in range(arguments.claims):
        case = random_case(rng)
        claim, domain = to_sympy(case.claim), case.domain()
        start = time.perf_counter()
        decision = chain.decide(claim, domain)
        times.append(time.perf_counter() - start)
        start = time.perf_counter()
        failure = chain.first_failure(claim, domain)
        slow_ff += time.perf_counter() - start
        label = decision.verdict.value if decision.reachable else "unreachable"
        if decision.verdict.value.startswith("needs"):
            label += " (mixed)" if decision.mixed else " (undecided)"
            if not decision.mixed:
                reasons[decision.proof.detail] += 1
        verdicts[label] += 1
        first[failure.status.value] += 1
        for text in violations(case, decision, failure, complete=not arguments.no_points):
            kind = text.split()[0]
            bad[kind] += 1
            if bad[kind] <= 3:
                facts = "; ".join(f"{k.value} {condition_text(to_sympy(t))}" for t, k in case.facts)
                print(f"#{number} {text}\n    {condition_text(claim)}  box {case.box}  facts {facts}")
                print(f"    {decision}\n    {failure}")
    times.sort()
    print(f"claims {arguments.claims}, violations {sum(bad.values())} {dict(bad)}")
    print("verdicts", dict(verdicts))
    print("undecided because", dict(reasons.most_common(4)))
    print("provers", {p.value: n for p, n in chain.decisions.items()})
    print("first failures", {s.value: first[s.value] for s in FailureStatus})
    print(
        f"ms per distinct question: median {times[len(times) // 2] * 1e3:.2f},"
        f" mean {sum(times) / len(times) * 1e3:.2f},"
        f" p99 {times[int(len(times) * 0.99)] * 1e3:.2f}, max {times[-1] * 1e3:.0f};"
        f" first failure mean {slow_ff / len(times) * 1e3:.2f}"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
