"""The campaign: programs by their seeds, what came of each, and what was found, kept in a folder so that the
next run goes on where this one stopped.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.totals import interposer
from tools.hunt.generate import generate
from tools.hunt.program import Program
from tools.hunt.reduce import reduced, size
from tools.hunt.signatures import MISSES, of_memory, signature
from tools.hunt.stored import write
from tools.hunt.writing import text

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "cpu", "cpu-compiled", "default", "opt0", "opt3", "llm", "llm-graph", "inplace", "inplace-cpu", "cse",
    "canonical", "sort", "sort-back", "matmul", "dataflow", "flat", "flat-inplace", "decompose", "training",
    "layout", "late", "late-inplace", "bound", "mixed", "fast", "devices", "cuda", "vulkan", "metal",
)  # fmt: skip
"""The pipelines of `pipelines.py`, which imports TVM."""
EACH = 4
"""How many of them a program goes through."""
LIMIT = 150.0
"""Seconds without a word from the child after which it is ended. TVM's intrinsics take a minute to import."""
COUNTERS = ("ends", "ran", "changed", "rewrites", "introduced", "points", "memory")


class Child:
    """The process that compiles and runs; a new one after each crash and hang."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.started = 0
        self._read = b""

    def judge(self, program: Program, names: list[str]) -> list[dict[str, Any]]:
        """The replies; a crash is one that `ends` so."""
        process = self._start()
        assert process.stdin is not None
        request = {"program": write(program), "pipelines": names}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        replies: list[dict[str, Any]] = []
        findings: list[Any] = []
        begun = "reference"
        while True:
            line = self._line(process)
            if not line.endswith(b"\n"):
                how = "crash" if line else "timeout"
                self.end()
                message = f"exit {process.returncode}"
                replies.append({"pipeline": begun, "ends": how, "message": message, "findings": findings})
                return replies
            reply = json.loads(line)
            if "begin" in reply:
                begun, findings = reply["begin"], reply.get("findings", [])
            elif "done" in reply:
                return replies
            else:
                replies.append(reply)

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        self._read = b""

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self.started += 1
            path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
            environment = {**os.environ, "TVM_NUM_THREADS": "1", "PYTHONPATH": path, **self._meter()}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tools.hunt.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=ROOT,
            )
        return self._process

    def _meter(self) -> dict[str, str]:
        """What loads the interposer that measures memory, where there is a compiler for it."""
        if not interposer.AVAILABLE:
            return {}
        return {"LD_PRELOAD": str(interposer.library(self._folder)), "RELAX_LINT_HUNT_METER": "1"}

    def _line(self, process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout.fileno(), selectors.EVENT_READ)
            while b"\n" not in self._read:
                if not selector.select(LIMIT):
                    return b""
                chunk = os.read(process.stdout.fileno(), 2**16)
                if not chunk:
                    process.wait()
                    return b"ended"
                self._read += chunk
        line, _, self._read = self._read.partition(b"\n")
        return line + b"\n"


@dataclass
class State:
    """What is known; `found` has, for each signature, how often it was seen and the smallest program."""

    next_seed: int = 0
    seconds: float = 0.0
    seconds_since_miss: float = 0.0
    programs: int = 0
    statements: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    rewrites: Counter[str] = field(default_factory=Counter)
    introduced: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    memory: Counter[str] = field(default_factory=Counter)
    found: dict[str, dict[str, Any]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Everything, for machines."""
        return {
            name: dict(value) if isinstance(value, Counter) else value for name, value in vars(self).items()
        }

    @classmethod
    def load(cls, path: Path, seed: int) -> State:
        """The state of an earlier run; a new one where there is none."""
        if not path.exists():
            return cls(next_seed=seed)
        kept = json.loads(path.read_text(encoding="utf-8"))
        for name in COUNTERS:
            kept[name] = Counter(kept[name])
        return cls(**kept)


class Campaign:
    """Runs programs through some of the pipelines in `names`, and keeps what is found in `folder`."""

    def __init__(self, folder: Path, seed: int, names: tuple[str, ...] = NAMES) -> None:
        self.folder = folder
        self._names = names
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "state.json"
        self.state = State.load(self._path, seed)
        self._child = Child(folder)

    def run(self, minutes: float = 0.0, programs: int = 0) -> None:
        """Go on for so many minutes, or for so many programs."""
        begin = time.monotonic()
        count = 0
        try:
            while time.monotonic() - begin < 60 * minutes or count < programs:
                before = time.monotonic()
                misses = self.step()
                passed = time.monotonic() - before
                self.state.seconds += passed
                self.state.seconds_since_miss = 0.0 if misses else self.state.seconds_since_miss + passed
                count += 1
                if count % 5 == 0:
                    self.save()
        finally:
            self.save()
            self._child.end()

    def save(self) -> None:
        """Write the state, for the next run and for readers."""
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(self.state.as_json(), indent=1), encoding="utf-8")
        new.replace(self._path)

    def step(self) -> bool:
        """One program; whether it showed a miss of the linter that is new."""
        state = self.state
        program = generate(state.next_seed)
        names = Random(state.next_seed).sample(self._names, EACH)
        state.next_seed += 1
        state.programs += 1
        state.statements += size(program)
        new_miss = False
        for reply in self._child.judge(program, names):
            new_miss |= self._note(program, reply)
        return new_miss

    def _note(self, program: Program, reply: dict[str, Any]) -> bool:
        state = self.state
        state.ends[f"{reply['pipeline']}: {reply['ends']}"] += 1
        state.ran.update(reply.get("ran", {}))
        state.changed.update(reply.get("changed", {}))
        state.rewrites.update(reply.get("rewrites", {}))
        state.points.update(reply.get("points", {}))
        state.memory.update(map(of_memory, reply.get("memory", ())))
        for made_by, rule, verdict in reply.get("findings", ()):
            state.introduced[f"{made_by or 'as given'} {rule} {verdict}"] += 1
        seen = signature(reply)
        if seen is None:
            return False
        key = " | ".join(seen)
        if key in state.found:
            state.found[key]["count"] += 1
            return False
        small = program if reply["pipeline"] == "reference" else self._reduced(program, reply, seen)
        state.found[key] = {
            "count": 1,
            "seed": state.next_seed - 1,
            "pipeline": reply["pipeline"],
            "message": reply.get("message", ""),
            "memory": reply.get("memory", []),
            "program": write(small),
            "text": text(small),
        }
        return seen[0] in MISSES

    def _reduced(self, program: Program, reply: dict[str, Any], seen: tuple[str, ...]) -> Program:
        def still(smaller: Program) -> bool:
            try:
                replies = self._child.judge(smaller, [reply["pipeline"]])
            except (OSError, ValueError):
                return False
            return any(r["pipeline"] == reply["pipeline"] and signature(r) == seen for r in replies)

        return reduced(program, still)
