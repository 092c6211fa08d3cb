"""What working in place would save where the first call behind the peak is not the one that saves."""

from __future__ import annotations

from tests.memory.conftest import Memory
from tests.memory.test_why import PROGRAM, _why

B, C = (
    f'        {name} = R.memory.alloc_tensor(s1, {at}, R.shape([n]), "float32")\n'
    for name, at in (("b", 0), ("c", 8192))
)
FIRST, SECOND = "        _ = cls.twice(x, a)\n", "        _1 = cls.twice(x, b)\n"


def _all_first() -> str:
    """The same program with its three tensors made before the first call."""
    text = PROGRAM
    for line in (B, C, SECOND):
        assert line in text
        text = text.replace(line, "")
    return text.replace(FIRST, B + C + FIRST + SECOND)


def test_each_call_behind_the_peak_is_looked_at(memory: Memory) -> None:
    """`a`, `b` and `c` take 8,192 bytes each; `c` could lie on `b`, which nothing needs behind the call."""
    why = _why(memory, _all_first())
    assert why["needed"] == 3 * 8192
    changes = {change["kind"]: change for change in why["changes"]}
    assert changes["in place"]["saves"] == 8192
    assert "over its input `b`" in changes["in place"]["text"]
