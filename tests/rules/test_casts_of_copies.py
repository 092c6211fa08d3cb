"""RLX201: a cast of what `vm.builtin.copy` returns looks at it where the call declares less than the cast."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

T4 = 'R.Tensor((4,), "float32")'
TEXT = f"""
@R.function(pure=False)
def main(x: {T4}):
    t = R.add(x, x)
    {{before}}
    u = R.call_packed("vm.builtin.copy", t, ty_args={{declared}})
    v = R.match_cast(u, {T4})
    {{after}}
    return x
"""
KILL = "k = R.vm.kill_object(t)"
CASES = [
    (KILL, "", "R.Object", "needs-runtime-check", True),
    ("", KILL, "R.Object", None, False),
    # The cast says nothing new, and nobody looks at the copy.
    (KILL, "", T4, None, False),
]


@pytest.mark.vm
@pytest.mark.parametrize(("before", "after", "declared", "verdict", "fails"), CASES)
def test_a_cast_of_a_copy(before: str, after: str, declared: str, verdict: str | None, fails: bool) -> None:
    module = parse(TEXT.format(before=before, after=after, declared=declared))
    said = {check.verdict.value for check in checks(module, "RLX201")} - {"always-fine"}
    assert said == ({verdict} if verdict else set())
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = tvm.runtime.tensor(np.ones(4, "float32"))
    if fails:
        with pytest.raises(Exception, match="expect a Tensor but get None"):
            machine["main"](given)
    else:
        assert machine["main"](given).numpy().tolist() == [1.0] * 4
