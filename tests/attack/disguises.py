"""Texts in other encodings and containers than plain Python, in which something is hidden."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path

from tests.attack.payloads import CANARY, EXPRESSIONS
from tests.attack.positions import REFUSED
from tests.attack.trying import Attack, placed


def _plain(canary: Path, position: str = "value") -> str:
    return placed(REFUSED[position], EXPRESSIONS["open"], canary)


def encodings(canary: Path) -> Iterator[Attack]:
    """Cookies, byte order marks and line ends."""
    text = _plain(canary)
    statement = f"open({str(canary)!r}, 'w')"
    python = sorted(
        {"utf-8", "latin-1", "cp1252", "utf-7", "utf-16", "utf-32", "punycode", "idna", "raw_unicode_escape"}
    )
    others = (
        "unicode_escape",
        "rot13",
        "zlib",
        "bz2",
        "hex",
        "base64",
        "uu",
        "quopri",
        "undefined",
        "mbcs",
        "oem",
        "../../x",
    )
    for name in (*python, *others):
        yield Attack(f"cookie-{name}", f"# coding: {name}\n{text}".encode())
        yield Attack(f"second_line-{name}", f"#!/usr/bin/python\n# -*- coding: {name} -*-\n{text}".encode())
        yield Attack(f"marked-{name}", codecs.BOM_UTF8 + f"# coding: {name}\n{text}".encode())
    escaped = f"# coding: unicode_escape\n# \\u000a{statement}\n{text}"
    yield Attack("escaped-line-end", escaped.encode())
    yield Attack("utf-7-line-end", f"# coding: utf-7\n# +AAo-{statement}\n{text}".encode())
    yield Attack("utf-7-unit", b"# coding: utf-7\n" + text.encode("utf-7"))
    for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp037", "shift_jis"):
        yield Attack(f"encoded-{name}", text.encode(name))
    yield Attack("nul", text.replace("y = ", "y = \0").encode())
    yield Attack("nul-at-the-end", text.encode() + b"\0" + text.encode())
    yield Attack("end-of-file-mark", text.encode() + b"\x1a" + text.encode())
    for name, end in (
        ("cr", "\r"),
        ("crlf", "\r\n"),
        ("mixed", "\r\n\r"),
        ("form_feed", "\n\f"),
        ("separator", "\u2028"),
    ):
        yield Attack(f"line-ends-{name}", text.replace("\n", end).encode())
    yield Attack("continued", text.replace("y = ", "y = \\\n").encode())
    yield Attack("semicolons", text.replace("y = ", "y = x; z = ").encode())
    yield Attack("tabs", text.replace("        ", "\t").encode())
    yield Attack("bidirectional", text.replace("y = ", "y = '\u202e' or ").encode())
    yield Attack("zero-width", text.replace("open", "op\u200den").encode())
    yield Attack("lone-surrogate", text.encode() + b"# \xed\xa0\x80\n")
    yield Attack("invalid-bytes", text.encode() + b"# \xff\xfe\n")
    yield Attack("two-marks", codecs.BOM_UTF8 * 2 + text.encode())
    yield Attack("empty", b"")
    yield Attack("only-words", b"tvm ir_module function relax R.function @R.function @I.ir_module")


def notebooks(canary: Path) -> Iterator[Attack]:
    """Cells, magics and broken JSON."""
    text = _plain(canary)

    def book(*cells: object, **more: object) -> bytes:
        return json.dumps({"cells": cells, "nbformat": 4, "metadata": {}, **more}).encode()

    def code(source: object) -> dict[str, object]:
        return {"cell_type": "code", "source": source, "outputs": []}

    shell = f"touch {canary}"
    sources: dict[str, object] = {
        "plain": text,
        "lines": text.splitlines(keepends=True),
        "shell": f"!{shell}\n{text}",
        "assigned": f"N = !{shell}\n{text}",
        "magic": f"%system {shell}\n{text}",
        "cell_magic": f"%%bash\n{shell}\n# tvm function\n",
        "python_magic": f"%%python\n{text}",
        "run": f"%run {canary}.py\n{text}",
        "help": f"x?\n{text}",
        "number": 3,
        "nested": [[text]],
        "null": None,
        "object": {"a": text},
    }
    for name, source in sources.items():
        yield Attack(f"notebook-{name}", book(code(source), code(text)), "notebook")
    yield Attack(
        "notebook-output", book({"cell_type": "code", "source": "", "outputs": [{"text": text}]}), "notebook"
    )
    yield Attack("notebook-raw", book({"cell_type": "raw", "source": text}), "notebook")
    yield Attack("notebook-no-cells", json.dumps({"worksheets": text}).encode(), "notebook")
    yield Attack("notebook-list", json.dumps([text]).encode(), "notebook")
    yield Attack("notebook-cut", book(code(text))[:-9], "notebook")
    yield Attack("notebook-cells-number", json.dumps({"cells": 3, "a": text}).encode(), "notebook")
    yield Attack("notebook-cell-number", json.dumps({"cells": [3, text]}).encode(), "notebook")
    yield Attack("notebook-surrogate", book(code("# \ud800 tvm\n" + text)), "notebook")
    yield Attack("notebook-nan", b'{"cells": [NaN, Infinity], "a": "tvm function"}', "notebook")


def pages(canary: Path) -> Iterator[Attack]:
    """Fenced blocks of all kinds."""
    text = _plain(canary)
    fences = {
        "plain": ("```python", "```"),
        "no_language": ("```", "```"),
        "attributes": ("```{.python .run}", "```"),
        "console": ("```console", "```"),
        "tildes": ("~~~py", "~~~"),
        "longer": ("`````python", "`````"),
        "open": ("```python", ""),
        "comment": ("<!--\n```python", "```\n-->"),
        "jupyter": ("```{code-cell} python", "```"),
    }
    for name, (begin, end) in fences.items():
        yield Attack(f"page-{name}", f"# Page\n\n{begin}\n{text}{end}\n".encode(), "markdown")
    listed = "".join(f"   {line}\n" for line in text.splitlines())
    yield Attack("page-list", f"1. Page\n   ```python\n{listed}   ```\n".encode(), "markdown")
    quoted = "".join(f"> {line}\n" for line in text.splitlines())
    yield Attack("page-quote", f"> ```python\n{quoted}> ```\n".encode(), "markdown")


def literals(canary: Path) -> Iterator[Attack]:
    """Texts that a file hands to TVM's parser, and constants that it has TVM load."""
    text = _plain(canary).split("\n\n", 1)[1]
    call = "import tvm\nfrom tvm.script import relax as R\n"
    yield Attack("literal", f"{call}tvm.script.from_source({text!r})\n".encode())
    yield Attack("literal-raw", f"{call}tvm.script.from_source(r'''{text}''')\n".encode())
    yield Attack("literal-joined", f"{call}tvm.script.parse('' {text!r})\n".encode())
    yield Attack("literal-formatted", f"{call}tvm.script.from_source(f'''{text}''')\n".encode())
    fine = "@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    y = metadata['ir.GenericConst'][0]\n    return x\n"
    graphs = {
        "module": '{"root_index": 0, "nodes": [{"type": "ffi.Module", "data": {"bytes": "AAAA"}}]}',
        "function": '{"root_index": 0, "nodes": [{"type": "ffi.Function", "data": {"name": "system"}}]}',
        "nothing": "{}",
        "circle": '{"root_index": 0, "nodes": [{"type": "ffi.Array", "data": [0]}]}',
        "outside": '{"root_index": 9, "nodes": []}',
        "negative": '{"root_index": -1, "nodes": [{"type": "None"}]}',
        "deep": "[" * 5_000,
    }
    for name, graph in graphs.items():
        loaded = f"metadata = tvm.ir.load_json({graph!r})\n"
        yield Attack(f"metadata-{name}", f"{call}{loaded}{fine}".encode())


def all_attacks(canary: Path) -> Iterator[Attack]:
    """Every one of them."""
    assert CANARY not in str(canary)
    for family in (encodings, notebooks, pages, literals):
        yield from family(canary)
