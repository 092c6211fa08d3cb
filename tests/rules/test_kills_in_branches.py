"""RLX201 for what a branch gives that it has killed: where it is told, whatever else is chosen before the use."""

from __future__ import annotations

import pytest

from tests.rules.checking import findings, parse

PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool"), d: R.Tensor((), "bool")):
    if c:
        t = R.add(x, x)
        k = R.memory.kill_tensor(t)
        r = t
    else:
        r = x
    {between}
    {use}
    return z
"""
BETWEEN = {
    "nothing": "",
    "a choice": "if d:\n    p = x\nelse:\n    p = R.add(x, x)",
    "two choices": "if d:\n    p = x\nelse:\n    p = R.add(x, x)\nif c:\n    q = p\nelse:\n    q = x",
    "a choice in a choice": (
        "if d:\n    p = x\nelse:\n    if c:\n        q = x\n    else:\n        q = R.add(x, x)\n    p = q"
    ),
}
USES = {
    "z = R.add(r, x)": ("always-wrong", "r"),
    "if d:\n    z = R.add(r, x)\nelse:\n    z = x": ("needs-runtime-check", "z_then"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("between", BETWEEN)
def test_what_is_used_on_every_way_is_told_of_the_branch(between: str, use: str) -> None:
    """Who takes the branch comes to the use, and fails; where that is in a branch of its own, not all do."""
    lines = {"between": BETWEEN[between], "use": use}
    text = PROGRAM.format(**{name: line.replace("\n", "\n    ") for name, line in lines.items()})
    found = [(check.verdict.value, check.binding) for check in findings(parse(text), "RLX201")]
    assert found == [USES[use]]
