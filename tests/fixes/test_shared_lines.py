"""Fixes where a line holds several statements, or a statement and a comment."""

from __future__ import annotations

import pytest

from relax_lint.settings.config import Config
from tests.fixes.fixing import findings, fixed
from tests.fixes.test_text import ASSERT, changes, module

STORAGE = 'storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")'
ALLOC = 'alloc = R.memory.alloc_tensor(storage, 0, R.shape([m]), "float32")'
CHECK = '        R.assert_op(m <= 4, [m], format="m = {}, but m <= 4 is needed")\n'


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"{STORAGE}; {ALLOC}; return alloc", id="first on its line"),
        pytest.param(
            f"m = T.int64(); k = T.int64()\n{STORAGE}\n{ALLOC}\nreturn alloc", id="behind the symbol's line"
        ),
        pytest.param(
            f"k = T.int64(); m = T.int64()  # both\n# own\n{STORAGE}\n{ALLOC}\nreturn alloc", id="comments"
        ),
        pytest.param(
            f"m = T.int64(); \\\nk = T.int64()\n{STORAGE}\n{ALLOC}\nreturn alloc", id="a continued line"
        ),
    ],
)
def test_a_check_comes_between_lines(body: str) -> None:
    before = module(body)
    after = fixed(before, ASSERT).text
    assert changes(before, after) == ([], [CHECK])
    assert not findings(after, ASSERT)


@pytest.mark.parametrize(
    "body",
    [
        f"m = T.int64(); {STORAGE}; {ALLOC}; return alloc",
        f"m = T.int64();\n{STORAGE}\n{ALLOC}\nreturn alloc",
        f"if c: {STORAGE}; {ALLOC}; r = alloc\nelse: r = x\nreturn r",
    ],
)
def test_a_check_within_a_line_is_only_told(body: str) -> None:
    before = module(body).replace('"float32")) ->', '"float32"), c: R.Tensor((), "bool")) ->', 1)
    (finding,) = findings(before, ASSERT)
    assert [(fix.applicability, bool(fix.edits)) for fix in finding.fixes] == [
        ("display", False),
        ("unsafe", True),
    ]
    assert any("R.assert_op(m <= 4" in line for line in finding.help)
    assert fixed(before, ASSERT).text == before


def test_a_kill_takes_its_comment_along() -> None:
    before = module(f"""
    {STORAGE}
    a = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    R.memory.kill_tensor(a)  # not needed any more
    b = R.call_packed("look", a, ty_args=R.Tuple)  # the last use
    return x
    """)
    kill = "        R.memory.kill_tensor(a)  # not needed any more\n"
    use = '        b = R.call_packed("look", a, ty_args=R.Tuple)  # the last use\n'
    assert kill + use in before
    after = fixed(before, Config(select=("RLX201",))).text
    assert after == before.replace(kill + use, use + kill)
