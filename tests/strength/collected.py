"""Programs and kernels that tests of the engine judge, each for one verdict: here all that is said of them counts.

They were taken from runs of those tests, as many as let each statement of the engine run with some of them.
`texts/` holds them: a line `#### NAME` stands before each, and names the file of tests that it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import tvm

from benchmarks.kernel_callers import called
from relax_lint.model.prim_funcs import KeptKernels, read_kernel
from tests.strength.claims import Said, said_of
from tests.strength.kernel_claims import of_kernel

_FOLDER = Path(__file__).with_name("texts")
_HEADER = re.compile(r"^#### (.+)\n", re.MULTILINE)


def texts(kind: str) -> Iterator[tuple[str, str]]:
    """The `modules` or the `kernels`, by name."""
    _, *parts = _HEADER.split((_FOLDER / f"{kind}.txt").read_text(encoding="utf-8"))
    yield from zip(parts[::2], parts[1::2], strict=True)


def said_of_kernel(text: str) -> Said:
    """What is read from a kernel, and what is said of a call of it."""
    prim_func = tvm.script.from_source(text, check_well_formed=False)
    try:
        module = called(prim_func)
    except (KeyError, ValueError, TypeError, tvm.error.InternalError):
        # Its parameters do not tell what a caller gives.
        return Said(tuple(of_kernel(read_kernel("f", prim_func))))
    kept = KeptKernels()
    # Read once for both.
    alone = tuple(of_kernel(kept.of(module)["kernel"]))
    found = said_of(module, proofs=True, kept=kept)
    return Said((*alone, *found.claims), found.findings, found.words)
