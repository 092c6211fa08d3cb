"""Random claims against brute force: verdicts and provers, the undecided share and every violation.

python -m benchmarks.prover_soundness [--claims 20000] [--seed S] [--no-points]

`--no-points` does without deciding by trying all points. The exit code is 1 if there is a violation.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from statistics import mean, median

from benchmarks.common import options
from relax_lint.symbolic.decision import FailureStatus
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.prover import ProverChain
from tests.symbolic.brute_force import random_case, to_sympy, violations


def main() -> int:
    arguments = options(__doc__, claims=20_000, seed=1, no_points=False)
    rng = random.Random(arguments.seed)
    chain = ProverChain(max_points=0) if arguments.no_points else ProverChain()
    verdicts, first, reasons, bad = (Counter[str]() for _ in range(4))
    times, first_times = [], []
    for number in range(arguments.claims):
        case = random_case(rng)
        claim, domain = to_sympy(case.claim), case.domain()
        start = time.perf_counter()
        decision = chain.decide(claim, domain)
        middle = time.perf_counter()
        failure = chain.first_failure(claim, domain)
        times.append(1e3 * (middle - start))
        first_times.append(1e3 * (time.perf_counter() - middle))
        label = decision.verdict.value if decision.reachable else "unreachable"
        if decision.verdict.value.startswith("needs"):
            label += " (mixed)" if decision.mixed else " (undecided)"
            reasons.update([] if decision.mixed else [decision.proof.detail])
        verdicts[label] += 1
        first[failure.status.value] += 1
        for text in violations(case, decision, failure, complete=not arguments.no_points):
            kind = text.split()[0]
            bad[kind] += 1
            if bad[kind] <= 3:
                facts = "; ".join(f"{k.value} {condition_text(to_sympy(t))}" for t, k in case.facts)
                print(f"#{number} {text}\n    {condition_text(claim)}  box {case.box}  facts {facts}")
                print(f"    {decision}\n    {failure}")
    print(f"claims {arguments.claims}, violations {bad.total()} {dict(bad)}")
    print("verdicts", dict(verdicts))
    print("undecided because", dict(reasons.most_common(4)))
    print("provers", {p.value: n for p, n in chain.decisions.items()})
    print("first failures", {s.value: first[s.value] for s in FailureStatus})
    print(
        f"ms per distinct question: median {median(times):.2f}, mean {mean(times):.2f},"
        f" p99 {sorted(times)[int(len(times) * 0.99)]:.2f}, max {max(times):.0f};"
        f" first failure mean {mean(first_times):.2f}"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
