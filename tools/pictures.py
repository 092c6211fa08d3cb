"""The pictures of the documentation, drawn by code: `make pages` writes them, and a test compares.

The first one shows examples/storage_overflow.py; the others show what the verdicts mean on an axis of inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"

GREEN, RED, GREY, INK, PAPER = "#1a7f37", "#c62828", "#6e7781", "#1f2328", "#ffffff"
FLOAT_BYTES, STORAGE_BYTES, PAGE_BYTES = 4, 16, 4096
_FONT = "font-family='system-ui, sans-serif'"


def pictures() -> dict[str, str]:
    """Every picture by file name."""
    return {
        "problem.svg": problem(),
        "always-fine.svg": verdict("always-fine", "every input is safe, proved", (16, 16)),
        "needs-runtime-check.svg": verdict("needs-runtime-check", "safe iff m <= 4", (4, 16)),
        "always-wrong.svg": verdict("always-wrong", "no input is safe, proved", (0, 16)),
    }


def problem() -> str:
    """The tensor of the example grows, its storage does not."""
    rows = [_bar(number, m) for number, m in enumerate((2, 4, 5, 1024, 1025))]
    head = [
        _text(24, 34, "a storage of 16 bytes, a tensor of 4*m bytes on it", 17, INK, bold=True),
        _text(24, 62, "m", 13, GREY),
        _text(84, 62, "tensor and storage", 13, GREY),
        _text(420, 62, "naive allocator", 13, GREY),
        _text(560, 62, "pooled (the default)", 13, GREY),
    ]
    tail = [
        _text(24, 268, "Tests with small inputs pass. relax-lint says before the first run:", 14, INK),
        _text(
            24,
            290,
            "safe iff m <= 4; naive fails from m = 5; pooled hides it until m = 1025",
            14,
            RED,
            bold=True,
        ),
    ]
    return _picture(
        720, 310, "a tensor that outgrows its storage", (*head, *(p for row in rows for p in row), *tail)
    )


def _bar(row: int, m: int) -> list[str]:
    needed, top = m * FLOAT_BYTES, 76 + 34 * row
    shown = 40.0 * min(needed / STORAGE_BYTES, 2) if needed > STORAGE_BYTES else 40.0 * needed / STORAGE_BYTES
    inside = min(shown, 40.0)
    parts = [
        _text(24, top + 17, str(m), 15, INK),
        _rect(84, top, inside * 3, 22, GREEN),
        *([_rect(84 + 120, top, (shown - 40) * 3 or 30, 22, RED)] if needed > STORAGE_BYTES else []),
        f"<rect x='84' y='{top}' width='120' height='22' fill='none' stroke='{INK}' stroke-width='2'/>",
        _text(90, top + 16, f"{needed:,} bytes", 13, PAPER, bold=True),
    ]
    for left, capacity in ((420, STORAGE_BYTES), (560, PAGE_BYTES)):
        refused = needed > capacity
        parts.append(_text(left, top + 17, "refuses" if refused else "runs", 14, RED if refused else GREEN))
    return parts


def verdict(name: str, meaning: str, safe: tuple[int, int]) -> str:
    """An axis of inputs: which of them are safe."""
    until, last = safe
    width = 560 / last
    cells = [_rect(24 + width * m, 52, width - 3, 26, GREEN if m < until else RED) for m in range(last)]
    words = [
        _text(24, 32, name, 17, INK, bold=True),
        _text(250, 32, meaning, 14, GREY),
        _text(24, 100, "m = 1", 13, GREY),
        _text(24 + 560 - 60, 100, "larger m", 13, GREY),
    ]
    return _picture(608, 116, f"{name}: {meaning}", (*words, *cells))


def _picture(width: int, height: int, title: str, parts: tuple[str, ...]) -> str:
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        f"height='{height}' role='img' {_FONT}>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' rx='8' fill='{PAPER}'/>",
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _rect(left: float, top: float, width: float, height: float, colour: str) -> str:
    return f"<rect x='{left:g}' y='{top:g}' width='{width:g}' height='{height:g}' fill='{colour}'/>"


def _text(left: float, top: float, text: str, size: int, colour: str, *, bold: bool = False) -> str:
    weight = " font-weight='600'" if bold else ""
    return f"<text x='{left:g}' y='{top:g}' font-size='{size}'{weight} fill='{colour}'>{escape(text)}</text>"


def stale() -> Iterator[str]:
    """The names of the pictures that are not as the code draws them."""
    for name, text in pictures().items():
        path = FOLDER / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            yield name


def main() -> int:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
