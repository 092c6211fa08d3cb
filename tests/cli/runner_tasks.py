"""Stands in for the work on a file: each word of the file is a unit and says what happens to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from relax_lint.results.check import Check
from relax_lint.results.location import Location
from relax_lint.results.report import UnitResult
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import load_rules
from relax_lint.running.messages import FileData, Loaded, UnitHead, UnitList
from relax_lint.settings.config import Config
from relax_lint.support.codec import encode


def analyse(file: FileData, config: Config, first: int) -> Iterator[Any]:
    words = file.data.decode().split()[3:]
    if "early-crash" in words:
        os.abort()
    location = Location(file.path, 1, 1, 1, 2)
    found = UnitList(tuple(UnitHead(word, location) for word in words), (), (), {1: "text"})
    yield ["UnitList", encode(found)]
    if "no-tvm" in words:
        raise ImportError("libtvm.so: cannot open")
    if "killed-loading" in words:
        os.kill(os.getpid(), signal.SIGKILL)
    if "crash-loading" in words:
        os.abort()
    if "no-memory-for-tvm" in words:
        raise ImportError("libtvm.so: cannot map") from MemoryError()
    yield ["Loaded", encode(Loaded("0.27.0", tuple(load_rules())))]
    for word in words[first:]:
        _suffer(word)
        yield from _lies(word, found)
        if word == "lie":
            yield ["UnitResult", "everything is fine"]
        yield ["UnitResult", encode(UnitResult((), (), 1, (word,), {}, (), ()))]


def _lies(word: str, found: UnitList) -> Iterator[Any]:
    """What no honest worker answers at this point."""
    endless = {
        "chatter": ["Doing", ["thinking"]],
        "find-again": ["UnitList", encode(found)],
        "load-again": ["Loaded", encode(Loaded("0.27.0", tuple(load_rules())))],
        "judge-on": ["UnitResult", encode(UnitResult((), (), 1, (), {}, (), ()))],
        "give-up": ["Impossible", ["no such target"]],
    }
    while word in endless:
        yield endless[word]
    if word == "new-rule":
        check = Check("RLX000", "n", Verdict.ALWAYS_WRONG, Severity.ERROR, "m", "0.py", None, None)
        yield ["UnitResult", encode(UnitResult((check,), (), 1, (), {}, (), ()))]


def load() -> Iterator[str]:
    yield "0.27.0"


def load_nothing() -> Iterator[str]:
    raise ImportError("libtvm.so: cannot open")
    yield ""


def _suffer(word: str) -> None:
    match word.partition("=")[::2]:
        case "crash", _:
            os.write(2, b"!!! TVM says goodbye\n")
            os.abort()
        case "hang", _:
            time.sleep(60)
        case "raise", _:
            raise ValueError("no such type")
        case "crash-once", note if not Path(note).exists():
            Path(note).touch()
            os.abort()
        case "unique", name:
            assert name, "never reached twice"
