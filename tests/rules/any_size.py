"""Programs over tensors of four elements, made over into the same of another size, or of any size `n`."""

from __future__ import annotations

import re
from collections.abc import Callable

_KERNEL = re.compile(r"@T\.prim_func\(private=True[^)]*\)\ndef (\w+)\((.*?)\):\n")
_BUFFER = re.compile(r'(\w+): T\.Buffer\(\((4,)?\), "(\w+)"\)')
_FUNCTION = re.compile(r"(@R\.function[^\n]*\n)def (\w+)\((.*?)\)( -> .*)?:\n")


def of_size(count: int) -> Callable[[str], str]:
    """What makes the text of a program over four elements into that of one over so many."""
    return lambda text: _resized(text, f"{count}", f"{4 * count}", f"{count // 2}")


def of_any_size(text: str) -> str:
    """The same over `n` elements."""
    return _resized(_FUNCTION.sub(_declared, _KERNEL.sub(_matched, text)), "n", "n * 4", "n // 2")


def _declared(function: re.Match[str]) -> str:
    """The first lines of a function that finds out how many elements its parameters have."""
    parameters, result = (part.replace("(4,)", '("n",)') for part in (function[3], function[4] or ""))
    return f"{function[1]}def {function[2]}({parameters}){result}:\n    n = T.int64()\n"


def _matched(kernel: re.Match[str]) -> str:
    """The first lines of a kernel that finds out how many elements its buffers have."""
    buffers = _BUFFER.findall(kernel[2])
    lines = [
        "@T.prim_func(private=True, s_tir=True)",
        f"def {kernel[1]}({', '.join(f'{name}_: T.handle' for name, _, _ in buffers)}):",
        "    n = T.int64()",
        *(
            f'    {name} = T.match_buffer({name}_, ({"n," if extent else ""}), "{dtype}")'
            for name, extent, dtype in buffers
        ),
    ]
    return "\n".join(lines) + "\n"


def _resized(text: str, count: str, size: str, half: str) -> str:
    for old, new in (
        ("R.shape([64])", f"R.shape([{size}])"),
        ("R.shape([16])", f"R.shape([{size}])"),
        ("range(4)", f"range({count})"),
        ("range(2)", f"range({half})"),
        ("i + 2]", f"i + {half}]"),
        ("(4,)", f"({count},)"),
        ("R.shape([4])", f"R.shape([{count}])"),
    ):
        text = text.replace(old, new)
    return text
