"""A task that does what no task may: the audit has to hear of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from relax_lint.running.messages import FileData
from relax_lint.settings.config import Config
from tests.attack import audited


def analyse(canary: str, config: Config) -> Iterator[list[str]]:
    """What is heard of a file that is written and a command that is run."""
    work = audited.analyse(FileData(b"tvm ir_module", "a.py", "python", True), config, 0)
    next(work)
    with open(canary, "w"):
        pass
    os.system("true")
    yield [name for word, found in work if word == audited.EVENTS for name in found]
    assert Path(canary).exists()
