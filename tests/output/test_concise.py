"""One line for each finding, as `grep -n` and compilers write them."""

from __future__ import annotations

import re

from relax_lint.output.concise import render_concise
from relax_lint.output.style import PLAIN, Style
from tests.output.builders import fine, overflow, report

# The error format that editors know: vim's `%f:%l:%c: %m`.
_LINE = re.compile(r"(?P<path>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<text>.*)")


def test_a_finding_is_one_line() -> None:
    text = render_concise(report(overflow(), fine(), overflow(message="two\nlines")), PLAIN, quiet=True)
    first, second = (_LINE.fullmatch(line) for line in text.splitlines())
    assert first is not None
    assert second is not None
    assert (first["path"], first["line"], first["column"]) == ("model.py", "9", "17")
    assert first["text"] == (
        "warning[RLX101] tensor `alloc` needs `4*m` bytes, storage `storage` has 16 bytes (safe iff m <= 4)"
    )
    assert "two" in second["text"]


def test_the_number_comes_last_unless_quiet() -> None:
    assert render_concise(report(fine()), PLAIN).splitlines() == ["0 findings"]
    assert render_concise(report(overflow()), PLAIN).splitlines()[-1] == "1 finding"
    assert render_concise(report(fine()), PLAIN, quiet=True) == ""


def test_colour_changes_nothing_else() -> None:
    plain = render_concise(report(overflow()), PLAIN)
    painted = render_concise(report(overflow()), Style(color=True))
    assert painted != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain
