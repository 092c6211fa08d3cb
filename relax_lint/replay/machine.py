"""Run Relax functions on the real virtual machine, in a subprocess that may crash.

Replaying builds and executes the module: it is done only where somebody asks for it, never by the
linter on its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from relax_lint.replay.guard import FILL, Damage, environment, fault_in
from relax_lint.replay.values import Input, Output, Scalar, Shape, Tuple
from relax_lint.running.sandbox.gaps import AUTO, REQUIRE, SandboxError, known_gaps, required
from relax_lint.running.starting import KEPT_VARIABLES, python_path
from relax_lint.support.lazy_dataclass import dataclass

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_COMMAND = (sys.executable, "-m", "relax_lint.replay.start")


class Outcome(str, Enum):
    """How a run ended."""

    OK = "ok"
    ERROR = "error"
    SIGNAL = "signal"
    TIMEOUT = "timeout"


@dataclass(frozen=True)
class Module:
    """What to run: `text` is a TVMScript file with one module (`script`), or what
    `tvm.ir.save_json` wrote (`json`).
    """

    text: str
    format: str = "script"

    @cached_property
    def key(self) -> str:
        """What the subprocess knows the module by."""
        return hashlib.sha256(f"{self.format}:{self.text}".encode()).hexdigest()


@dataclass(frozen=True)
class RunResult:
    """What the virtual machine did.

    `stage` says how far it came (`build`, `inputs` or `run`). `error_type` and `message`
    are those of the exception, without traceback; `signal` is the name of the signal that killed the
    process; `log` is what the process printed, its last 4,096 bytes, where it did not survive. `digest`
    stands for all that was returned, to the last byte; it is empty where that could not be read.
    `damage` is what a guarded machine saw outside a block, also where the run went on; `left_out` says
    that a block was too large to be guarded, or was one too many.
    """

    outcome: Outcome
    stage: str = "run"
    error_type: str | None = None
    message: str | None = None
    signal: str | None = None
    outputs: tuple[Output, ...] = ()
    log: str = ""
    damage: Damage | None = None
    left_out: bool = False
    digest: str = ""


class Machine:
    """A subprocess that builds modules and runs their functions.

    It builds each (module, allocator, execution mode) once, is started at the first run, and is
    replaced after a run that killed it or exceeded the time limit. A run that corrupted the heap without
    dying may harm the runs after it: call `restart` where that is to be expected.

    Args:
        time_limit: seconds for one run, building included.
        memory_limit: bytes of address space of the subprocess.
        guarded: whether what TVM allocates is guarded, see `relax_lint.replay.guard`.
        sandbox: how the subprocess is confined: `off`, `auto` or `require`.

    Raises GuardUnavailableError.
    """

    def __init__(
        self,
        *,
        time_limit: float = 60.0,
        memory_limit: int = 8 * 2**30,
        guarded: bool = False,
        sandbox: str = AUTO,
    ) -> None:
        self._sandbox = sandbox
        self._environment = environment() if guarded else {}
        self._guarded = guarded
        self._time_limit = time_limit
        self._memory_limit = memory_limit
        self._loaded: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.restart()

    def run(
        self,
        module: Module,
        function: str,
        inputs: Sequence[Input],
        *,
        allocator: str = "pooled",
        exec_mode: str = "bytecode",
        fill: int | None = None,
    ) -> RunResult:
        """Call `function` of `module` with `inputs`.

        Args:
            module: the module, at any stage of lowering; TVM's default pipeline is applied to it, which
                keeps explicit memory operations as they are.
            function: name of a public function.
            inputs: its arguments.
            allocator: `naive` or `pooled`.
            exec_mode: `bytecode` or `compiled`.
            fill: the byte that new memory is filled with, where the C library (glibc) or the guard can do it.
        """
        process = self._start()
        assert process.stdin is not None
        request = {
            "key": module.key,
            "function": function,
            "inputs": [_to_json(value) for value in inputs],
            "allocator": allocator,
            "exec_mode": exec_mode,
            "fill": fill if fill is not None or not self._guarded else FILL,
            "guarded": self._guarded,
        }
        if module.key not in self._loaded:
            self._loaded.add(module.key)
            request |= {"text": module.text, "format": module.format}
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            # It died before it read the request; how is told below.
            pass
        reply = self._read_line(process)
        if reply is None:
            log = self._last_words()
            self.restart()
            return RunResult(Outcome.TIMEOUT, log=log)
        if not reply.endswith(b"\n"):
            status = process.wait()
            log = self._last_words()
            self.restart()
            name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
            return RunResult(Outcome.SIGNAL, signal=name, log=log, damage=fault_in(log))
        return _from_json(json.loads(reply))

    def restart(self) -> None:
        """End the subprocess; the next run starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        self._loaded.clear()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.restart()
        if self._process is None:
            # A working directory of its own: no file of the user's can be imported by mistake.
            self._folder = tempfile.TemporaryDirectory(prefix="relax-lint-")
            with open(self._log_path(), "wb") as log:
                self._process = subprocess.Popen(
                    [
                        *_COMMAND,
                        str(self._memory_limit),
                        self._sandbox,
                        json.dumps(python_path()),
                    ],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=self._folder.name,
                    env=self._variables(),
                    # Ctrl-C is for the parent, which ends the child.
                    start_new_session=True,
                )
            self._require_sandbox(self._process)
        return self._process

    def _require_sandbox(self, process: subprocess.Popen[bytes]) -> None:
        """Raise SandboxError where the subprocess could not be confined as it has to be."""
        line = self._read_line(process)
        # A process that ended, or hangs, before it said so has been handed nothing: the first run tells.
        gaps = known_gaps(json.loads(line)) if line and line.endswith(b"\n") else ()
        if gaps and self._sandbox == REQUIRE:
            self.restart()
            raise SandboxError(required(gaps))

    def _variables(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH")]))
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        return {**kept, "PYTHONPATH": path, "TVM_NUM_THREADS": "1", **self._environment}

    def _read_line(self, process: subprocess.Popen[bytes]) -> bytes | None:
        """A reply up to its newline; less than that when the process died, None when time ran out."""
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        reply = b""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while not reply.endswith(b"\n"):
                if not selector.select(self._time_limit):
                    return None
                chunk = os.read(descriptor, 2**16)
                if not chunk:
                    break
                reply += chunk
        return reply

    def _log_path(self) -> Path:
        assert self._folder is not None
        return Path(self._folder.name, "log")

    def _last_words(self) -> str:
        return self._log_path().read_bytes()[-4096:].decode("utf-8", "replace").strip()


def _to_json(value: Input) -> dict[str, Any]:
    if isinstance(value, Scalar):
        return {"kind": "scalar", **asdict(value)}
    if isinstance(value, Tuple):
        return {"kind": "tuple", "fields": [_to_json(field) for field in value.fields]}
    return {"kind": "shape" if isinstance(value, Shape) else "tensor", **asdict(value)}


def _from_json(reply: dict[str, Any]) -> RunResult:
    damage = Damage(**reply["damage"]) if reply.get("damage") else None
    left_out = bool(reply.get("left_out"))
    if "error_type" in reply:
        return RunResult(
            Outcome.ERROR,
            reply["stage"],
            error_type=reply["error_type"],
            message=reply["message"].strip(),
            damage=damage,
            left_out=left_out,
        )
    outputs = tuple(
        Output(item["text"], tuple(item["values"]) if "values" in item else None) for item in reply["outputs"]
    )
    return RunResult(
        Outcome.OK,
        reply["stage"],
        outputs=outputs,
        digest=reply["digest"],
        damage=damage,
        left_out=left_out,
    )
