"""The programs that are changed: the examples, those of the rule pages, and random ones of the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from relax_lint.replay.modules import UnreadableModuleError, load_module
from relax_lint.settings.config import Config, with_options
from tests.oracle.program import text
from tests.oracle.strategies import some
from tests.pages.page import examples

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RANDOM, _SEED = 12, 1
_VALUES: dict[str, Any] = {"true": True, "false": False}


@dataclass(frozen=True)
class Text:
    """A file with one module, and the settings with which its page has it linted."""

    name: str
    content: str
    options: tuple[tuple[str, str], ...] = ()

    @property
    def config(self) -> Config:
        """The settings."""
        return with_options(Config(), {name: _VALUES.get(value, [value]) for name, value in self.options})


@lru_cache(maxsize=256)
def read(program: Text) -> Any:
    """The module; None where TVM does not take the text, or there is not one module."""
    try:
        return load_module(program.content, "script")
    except UnreadableModuleError:
        return None


def programs() -> Iterator[Text]:
    """All of them, those without a module too."""
    yield from _written()
    yield from random_programs(RANDOM, _SEED)


def names() -> Iterator[str]:
    """The names of all of them; to make the random ones takes a second."""
    yield from (program.name for program in _written())
    yield from (_name(_SEED, number) for number in range(RANDOM))


def _written() -> Iterator[Text]:
    for path in sorted(EXAMPLES.glob("*.py")):
        # The transformer takes seconds for each change.
        if path.name != "planned_transformer.py":
            yield Text(path.stem, path.read_text(encoding="utf-8"))
    for example in examples():
        # The sources cannot be read, and one of them ends the process that tries.
        if not example.name.startswith("RLX9"):
            yield Text(example.name, example.text, example.options)


def random_programs(count: int, seed: int) -> Iterator[Text]:
    """Programs of the oracle."""
    for number, program in enumerate(some(count, seed, tidy=False)):
        yield Text(_name(seed, number), text(program))


def _name(seed: int, number: int) -> str:
    return f"random {seed}.{number}"
