"""What the benchmarks share: options, tables, folders of programs, and times."""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "-c", "import sys; from relax_lint.cli import main; sys.exit(main())")
"""The whole command in a process of its own."""


def options(text: str | None, *positional: str, **defaults: Any) -> argparse.Namespace:
    """The command line: `positional` take one or more words; an option has the type of its default, a list
    takes more than one value, `False` is a switch. `text`, the docstring of the module, is the help.
    """
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in positional:
        optional = name.endswith("?")
        parser.add_argument(name.rstrip("?"), nargs="*" if optional else "+")
    for name, default in defaults.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, list):
            kind: type = type(default[0]) if default else str
            parser.add_argument(flag, nargs="+", type=kind, default=default)
        else:
            parser.add_argument(flag, type=type(default), default=default)
    return parser.parse_args()


def table(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(head)}", *lines[1:]])


def counts(name: str, words: Sequence[str], found: Mapping[str, Mapping[str, int]]) -> str:
    """A table of how often each word was counted for each key, and of all keys together."""
    rows = [(key, *(of_key.get(word, 0) for word in words)) for key, of_key in found.items()]
    every = (sum(of_key.get(word, 0) for of_key in found.values()) for word in words)
    return table((name, *words), [*rows, ("all", *every)])


def write(folder: Path | str, texts: Mapping[str, str]) -> None:
    """Each text as a Python file of this name."""
    for name, text in texts.items():
        Path(folder, f"{name}.py").write_text(text, encoding="utf-8")


def in_turns(
    works: Sequence[Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.process_time
) -> list[list[float]]:
    """Seconds of each of several runs of each work. Whoever comes second finds other caches: they take turns.

    Processor time is what other load on the machine changes least.
    """
    times: list[list[float]] = [[] for _ in works]
    for number in range(rounds):
        # As the workers do: TVM's own heap is not searched again and again.
        gc.collect()
        gc.freeze()
        order = range(len(works)) if number % 2 == 0 else reversed(range(len(works)))
        for index in order:
            start = clock()
            works[index]()
            times[index].append(clock() - start)
    return times


def process_seconds(
    command: Sequence[str],
    folder: Path,
    runs: int,
    before: Callable[[], Any],
    prints: str,
    **environment: str,
) -> list[float]:
    """Wall-clock times of whole processes, each after a call of `before`; each has to print `prints`."""
    times = []
    for _ in range(runs):
        before()
        begin = time.perf_counter()
        environ = {**os.environ, **environment}
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
        times.append(time.perf_counter() - begin)
        if prints not in done.stdout:
            raise SystemExit(f"{prints!r} is not in what it printed: {done.stdout}{done.stderr}")
    return times


def ratio_row(name: str, times: Sequence[float], base: Sequence[float]) -> tuple[str, ...]:
    """Median and least in milliseconds and as ratios to `base`."""
    best = (median(times), median(base)), (min(times), min(base))
    return (name, *(cell for own, other in best for cell in (f"{1000 * own:.1f} ms", f"{own / other:.2f}x")))


RATIO_HEAD = ("", "median", "ratio", "least", "ratio")
