"""What is said of an access that is outside in some calls: no condition twice, and none that follows from another."""

from __future__ import annotations

from textwrap import indent

import pytest
import tvm

from relax_lint.model.prim_funcs import read_kernel
from tests.model.test_kernel_forms import HEAD


@pytest.mark.parametrize(
    ("guards", "said"),
    [
        (("m > 5",), ["m - 6"]),
        (("m > 5", "m > 4"), ["m - 6"]),
        (("m > 4", "m > 5"), ["m - 6"]),
        # No extent is negative.
        (("m > 5", "m + n > 5"), ["m - 6"]),
        (("m + n > 5", "m > 5"), ["m - 6"]),
        (("m + n > 5", "m > 5", "m + 2 * n > 5"), ["m - 6"]),
        (("m > 5", "m + n > 5", "m + 2 * n > 4"), ["m - 6"]),
        (("m + n > 5", "m + 2 * n > 6"), ["m + 2*n - 7", "m + n - 6"]),
        (("m > 5", "m + n > 9"), ["m + n - 10", "m - 6"]),
    ],
)
def test_what_follows_is_left_out(guards: tuple[str, ...], said: list[str]) -> None:
    body = "".join(f"{'    ' * depth}if {guard}:\n" for depth, guard in enumerate(guards))
    body += "    " * len(guards) + "x[n] = T.float32(1)"
    function = tvm.script.from_source(HEAD + indent(body, "    "), check_well_formed=False)
    accesses = read_kernel("f", function).accesses
    (access,) = accesses.accesses
    (obligation,) = access.obligations
    assert obligation.exact
    assert sorted(str(accesses.terms.expression(p)) for p in obligation.outside) == said


def test_several_sizes_are_compared_too() -> None:
    body = "for i in range(n):\n    if m + n > 5:\n        if m > 5:\n            p[i] = T.int64(1)"
    function = tvm.script.from_source(HEAD + indent(body, "    "), check_well_formed=False)
    accesses = read_kernel("f", function).accesses
    ((obligation,),) = (one.obligations for one in accesses.accesses)
    # It is outside where `m >= 6` and `n > m`: that `n` is at least 1 follows.
    assert sorted(str(accesses.terms.expression(p)) for p in obligation.outside) == ["-m + n - 1", "m - 6"]
