"""What a known bug is here: a program, the rule that should see it, and calls that show what happens.

The programs stand in the text files of this folder, in short TVMScript that `written_out` spells out:

    == NAME: the pattern
    public references -> RULE VERDICT         (`nothing`: the pattern is harmless or repaired)
    planned main(x: f32[n]) -> f32[n]:        an impure function; `function` stands for a pure one
        s = storage(16)                       a storage of 16 bytes
        y = tensor(s, n)                      a float32 tensor on it
        double(x, y)                          a kernel, of the file or of `kernels.py`
        return y
    run: CALL; CALL                           calls for the virtual machine, in the notation of
                                              `relax_lint.replay` without what is expected
    right: what a right program would answer, where the machine answers without an error
    max memory: the budget in bytes, where there must be one
    undecidable: why the IR alone cannot tell the program from a right one
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from benchmarks.bugs.kernels import KERNELS

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
_DTYPES = {"f32": "float32", "i8": "int8", "i64": "int64", "b1": "bool"}
_STORAGE = re.compile(r"= storage\((.*)\)$", re.MULTILINE)
_TENSOR = re.compile(r"= tensor\((\w+), (.*)\)$", re.MULTILINE)
_TYPE = re.compile(rf"\b({'|'.join(_DTYPES)})\[([^\]]*)\]")
_HEAD = re.compile(r"^(planned|function) (.*)$", re.MULTILINE)
_CALL = re.compile(r"^    (\w+)\(", re.MULTILINE)
_FIELD = re.compile(r"^(run|right|max memory|undecidable): (.*)\n", re.MULTILINE)


@dataclass(frozen=True)
class Bug:
    """A pattern and its minimal program as a TVMScript file; see above for the fields."""

    name: str
    rows: str
    pattern: str
    rule: str
    verdict: str
    text: str
    calls: tuple[str, ...]
    right: str
    max_memory: int | None
    undecidable: str


@dataclass(frozen=True)
class Rows:
    """References that are not judged, and why."""

    rows: str
    pattern: str
    reason: str


def bugs_of(name: str) -> tuple[Bug, ...]:
    """The bugs in a file of this folder."""
    text = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
    return tuple(map(_bug, re.split(r"^== ", text, flags=re.MULTILINE)[1:]))


def _bug(entry: str) -> Bug:
    title, source, body = entry.split("\n", 2)
    name, pattern = title.split(": ", 1)
    rows, expected = source.split(" -> ")
    rule, _, verdict = expected.partition(" ")
    fields = dict(_FIELD.findall(body))
    return Bug(
        name=name,
        rows=rows,
        pattern=pattern,
        rule="" if expected == "nothing" else rule,
        verdict=verdict,
        text=written_out(_FIELD.sub("", body)),
        calls=tuple(call for call in fields.get("run", "").split("; ") if call),
        right=fields.get("right", ""),
        max_memory=int(fields["max memory"]) if "max memory" in fields else None,
        undecidable=fields.get("undecidable", ""),
    )


def program(body: str) -> str:
    """The file of a module with these functions."""
    return HEADER + indent(body.strip("\n"), "    ") + "\n"


def written_out(body: str) -> str:
    """A file of TVMScript without abbreviations, and with the shared kernels that are called."""
    body = _HEAD.sub(_head, body)
    body = _STORAGE.sub(r'= R.memory.alloc_storage(R.shape([\1]), 0, "global", "uint8")', body)
    body = _TENSOR.sub(r'= R.memory.alloc_tensor(\1, 0, R.shape([\2]), "float32")', body)
    body = _CALL.sub(r"    Module.\1(", _TYPE.sub(lambda match: _type(match[1], _extents(match)), body))
    called = {name for name in KERNELS if f"Module.{name}" in body and f"def {name}(" not in body}
    return program("\n".join([*(text for name, text in KERNELS.items() if name in called), body.strip("\n")]))


def _head(match: re.Match[str]) -> str:
    """A decorator and `def`, with extents in quotes; the symbols are declared in the next lines."""
    kind, head = match.groups()
    symbols = re.findall(r"[a-z]\w*", " ".join(extents for _, extents in _TYPE.findall(head)))
    symbols += re.findall(r'R\.Shape\(\["(\w+)"\]\)', head)
    quoted = _TYPE.sub(lambda t: _type(t[1], [e if e.isdigit() else f'"{e}"' for e in _extents(t)]), head)
    decorator = "@R.function" if kind == "function" else "@R.function(pure=False)"
    return "\n".join([decorator, f"def {quoted}", *(f"    {s} = T.int64()" for s in dict.fromkeys(symbols))])


def _extents(match: re.Match[str]) -> list[str]:
    return match[2].split(", ") if match[2] else []


def _type(dtype: str, extents: list[str]) -> str:
    shape = ", ".join(extents) + ("," if len(extents) == 1 else "")
    return f'R.Tensor(({shape}), "{_DTYPES[dtype]}")'
