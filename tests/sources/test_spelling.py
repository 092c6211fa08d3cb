"""The same program, spelled in other ways that Python reads alike: none of them hides it."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from relax_lint.sources import reading
from relax_lint.sources.prefilter import test_of as relax_test_of
from relax_lint.sources.reading import read_units

BODY = """\
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    return x
"""
IMPORT = "from tvm.script import relax as R\n"
FUNCTION = f"@R.function\n{BODY}"
PROGRAM = IMPORT + FUNCTION
WORDS = ("tvm", "relax", "function")


def wide(word: str) -> str:
    """A word in letters that Python takes for those of ASCII."""
    return "".join(chr(ord(letter) - 0x21 + 0xFF01) for letter in word)


def hidden(data: bytes, kind: str = "python") -> bool:
    """Whether the first look puts aside what is read behind it."""
    may_matter = relax_test_of(kind, named=True)
    assert may_matter is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "test_of", lambda kind, named: None)
        found = read_units(data, "a", kind)
    return bool(found.units) and not may_matter(data)


def in_encodings() -> list[bytes]:
    """The program with a declaration for each way of writing a letter of ASCII in another form."""
    escaped = {
        "utf-7": lambda letter: f"+{letter.encode('utf-16-be').hex()}",
        "unicode_escape": lambda letter: f"\\x{ord(letter):02x}",
        "raw_unicode_escape": lambda letter: f"\\u{ord(letter):04x}",
        "iso2022_jp": lambda letter: f"\x1b(B{letter}",
        "hz": lambda letter: f"~\n{letter}",
    }
    found = []
    for (name, way), word in itertools.product(escaped.items(), WORDS):
        letter = way(word[0])
        if name == "utf-7":
            letter = {"t": "+AHQ-", "r": "+AHI-", "f": "+AGY-"}[word[0]]
        text = PROGRAM.replace(word, letter + word[1:])
        for before in ("", "\n", "#!/usr/bin/python\n", "\f# a page\n"):
            found.append(f"{before}# vim: set fileencoding={name} :\n{text}".encode())
    return found


def in_letters() -> list[bytes]:
    """The program with letters that are compatible with those of its names, one name at a time."""
    texts = [PROGRAM.replace(word, wide(word)) for word in WORDS]
    texts += [FUNCTION.replace("@R", f"@{letter}") for letter in (wide("R"), *"ℛℜℝᴿ")]
    encoded = [text.encode() for text in texts]
    return [before + one for before in (b"", b"\xef\xbb\xbf", b"# coding: utf8\n") for one in encoded]


def in_tokens() -> list[bytes]:
    """A printed function with other space, brackets and joined lines around its decorator's names."""
    spaces = ("", " ", "\t", "\f", "\\\n", " \\\r\n\t")
    decorators = [f"@{a}R{b}.{c}function" for a, b, c in itertools.product(spaces, repeat=3)]
    decorators += ["@(R.function)", "@((R).function)", "@(\n  R\n  .function\n)", "@R.function()"]
    return [f"{decorator}\n{BODY}".encode() for decorator in decorators]


def in_literals() -> list[bytes]:
    """A program in a string for TVM's parser, with its words in pieces and escapes."""
    letters = ("\\x66", "\\u0066", "\\N{LATIN SMALL LETTER F}")
    pieces = [*(f"{letter}unction" for letter in letters), "func\\\ntion", 'fu""" """nction']
    calls = ("tvm.script.from_source", "from_source", "x.script.parse", "(x.script)\\\n.parse")
    return [
        f'import tvm\nm = {call}("""{FUNCTION.replace("function", piece)}""")\n'.encode()
        for call, piece in itertools.product(calls, pieces)
    ]


def in_cells() -> list[bytes]:
    """A notebook whose cell is written with escapes."""
    plain = json.dumps({"cells": [{"cell_type": "code", "source": [IMPORT, FUNCTION]}]})
    found = []
    for word, key in itertools.product((*WORDS, "@", None), ("cell_type", "source", "cells", None)):
        text = plain
        for one in filter(None, (word, key)):
            text = text.replace(one, f"\\u{ord(one[0]):04x}{one[1:]}")
        found.append(text.encode())
    letters = json.dumps({"cells": [{"cell_type": "code", "source": PROGRAM.replace("tvm", wide("tvm"))}]})
    return [*found, plain.replace("@R", "@\\tR").encode(), letters.encode()]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (in_encodings(), "python"),
        (in_letters(), "python"),
        (in_tokens(), "python"),
        (in_literals(), "python"),
        (in_cells(), "notebook"),
    ],
    ids=["encodings", "letters", "tokens", "literals", "cells"],
)
def test_no_spelling_hides_a_program(texts: list[bytes], kind: str) -> None:
    assert [text for text in texts if hidden(text, kind)] == []
    readable = [text for text in texts if read_units(text, "a", kind).units]
    assert len(readable) > 0.75 * len(texts)


ORDINARY = "def function(x):\n    return x @ x  # {}\n"


def test_letters_and_encodings_alone_are_no_program() -> None:
    may_matter = relax_test_of("python", named=True)
    assert may_matter is not None
    for text in ("é — …", "说明", wide("R"), "ﬁ", "\U0001f600"):
        assert not may_matter(ORDINARY.format(text).encode())
    for name in ("utf-7", "latin-1", "no-such-encoding", "rot13", "idna", "utf-16"):
        assert not may_matter(f"# coding: {name}\n{ORDINARY}".encode())
    assert not may_matter(ORDINARY.encode() + bytes(range(128, 256)))
    assert not may_matter(b"can_build_from_source = 1\n" + ORDINARY.encode())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_what_other_programs_write_is_said_to_be_unreadable(encoding: str) -> None:
    # PowerShell writes so what `python dump.py > module.py` prints.
    (problem,) = read_units(PROGRAM.encode(encoding), "a.py").problems
    assert problem.message == f"not readable as text: {encoding.upper()}, and Python reads UTF-8"
    assert read_units(ORDINARY.encode(encoding), "a.py").problems == ()


def test_other_letters_load_no_more_than_they_take(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# coding: utf-8\nx = 'é — 说明'\n", encoding="utf-8")
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop()); from relax_lint.cli import main; code = main(['a.py']);"
        "print(sorted({'re', 'enum', 'tokenize', 'dataclasses'} & sys.modules.keys()), code)"
    )
    here = str(Path(reading.__file__).parents[2])
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, here], cwd=tmp_path, capture_output=True, text=True
    )
    assert found.stdout.splitlines() == ["no Relax function in 1 input", "[] 0"], found.stderr
