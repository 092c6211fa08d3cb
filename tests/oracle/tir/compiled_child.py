"""Compares a kernel with its compiled form in a process of its own, which a compiled kernel may end.

The kernel comes as its `repr` on standard input; the answer is a line of JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

from tests import forking
from tests.oracle.answers import NOT_COMPARED
from tests.oracle.kernels.bodies import Do, Inside
from tests.oracle.tir.compare import Disagreement, Unusable
from tests.oracle.tir.compiled import compare_machine
from tests.oracle.tir.writer import Buffer, Kernel

_NAMES = {"Do": Do, "Inside": Inside, "Buffer": Buffer, "Kernel": Kernel}
_PATIENCE = 120


def compare_apart(kernel: Kernel) -> Counter[str]:
    """`compare_machine` in a process of its own."""
    try:
        child = forking.run(
            (sys.executable, "-m", "tests.oracle.tir.compiled_child"),
            input=repr(kernel),
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Counter({NOT_COMPARED: 1})
    lines = child.stdout.splitlines()
    if child.returncode or not lines:
        raise Disagreement(f"the compiled kernel ends the process with {child.returncode}")
    kind, answer = json.loads(lines[-1])
    if kind == "Disagreement":
        raise Disagreement(answer)
    if kind == "Unusable":
        raise Unusable(answer)
    return Counter(answer)


def main() -> None:
    """Compare the kernel of standard input."""
    try:
        answer: tuple[str, object] = ("seen", compare_machine(eval(sys.stdin.read(), _NAMES)))
    except (Disagreement, Unusable) as error:
        answer = (type(error).__name__, str(error))
    sys.stdout.write(f"{json.dumps(answer)}\n")


if __name__ == "__main__":
    main()
