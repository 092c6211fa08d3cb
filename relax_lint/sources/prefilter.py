"""Whether a file can hold Relax at all: a search of its bytes, before anything is parsed or imported."""

from __future__ import annotations

import re

# Every unit is decorated with `ir_module` or with a `function` of TVM's script parser, and whoever writes
# that names tvm or relax; a printed module without imports says `@R.function`.
_DECORATED = re.compile(rb"\bir_module\b|\bfunction\b")
_NAMED = re.compile(rb"\b(tvm|relax|Relax)\b")
_PRINTED = re.compile(rb"@\s*(R\s*\.\s*function|I\s*\.\s*ir_module)\b")


def may_contain_relax(data: bytes) -> bool:
    """False only if no unit can be in there."""
    # Plain searches are several times faster than patterns, and settle almost every file.
    if b"function" not in data and b"ir_module" not in data:
        return False
    named = (b"tvm" in data or b"elax" in data) and _NAMED.search(data)
    return bool(named or _PRINTED.search(data)) and _DECORATED.search(data) is not None
