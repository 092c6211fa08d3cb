"""How a worker process is started and ended: its environment, its import path, its temporary folder."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import IO, Any

from relax_lint.running.hiding import is_to_be_hidden

_BOOT = "import sys; sys.path[:] = sys.argv[2:]; import relax_lint.running.worker_process as w; w.main()"

# What a worker needs of the environment: where programs, libraries and temporary files are. Everything
# else (tokens of a CI job, say) stays out of a process that reads untrusted files.
KEPT_VARIABLES = (
    *("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TVM_HOME", "TVM_LIBRARY_PATH", "CUDA_PATH"),
)
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "TVM_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Needs:
    """What a task needs of its worker beyond the usual: a `folder` to read, `executable` memory to compile
    code into. A worker that may do more than another does not become one that may do less, nor the other
    way round: a task with other needs gets another worker.
    """

    folder: str | None = None
    executable: bool = False


ORDINARY = Needs()


@dataclass(eq=False)
class Worker:
    """A worker process, and what it is doing."""

    process: subprocess.Popen[bytes]
    log: IO[bytes]
    needs: Needs
    temporary: str
    confined: bool = False
    task: int | None = None
    latest: int | None = None
    received: int = 0
    tasks_begun: int = 0
    deadline: float = 0.0
    outgoing: bytes = b""
    incoming: bytearray = field(default_factory=bytearray)

    @property
    def reader(self) -> int:
        """Where its answers arrive."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    @property
    def writer(self) -> int:
        """Where requests go."""
        assert self.process.stdin is not None
        return self.process.stdin.fileno()


def start_worker(settings: dict[str, Any], needs: Needs) -> Worker:
    """Start a worker with the settings of `worker_process.Settings`, but for its temporary folder."""
    if is_to_be_hidden():
        from relax_lint.running.sandbox.limits import hide

        hide()
    temporary = tempfile.mkdtemp(prefix="relax-lint-")
    environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    environment.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    environment["TMPDIR"] = temporary
    # sympy's order of terms may follow the order of a set: the same input must give the same words.
    environment["PYTHONHASHSEED"] = "0"
    log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (open as long as the worker lives)
    # Appending: after the worker has emptied the file the next words stand at its start.
    fcntl.fcntl(log.fileno(), fcntl.F_SETFL, os.O_APPEND)
    process = subprocess.Popen(
        [sys.executable, "-c", _BOOT, json.dumps({**settings, "temporary": temporary}), *_import_path()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=environment,
        bufsize=0,
        # Its own process group: the terminal's Ctrl-C reaches the parent only, which then ends the worker
        # and whatever the worker has started.
        start_new_session=True,
    )
    worker = Worker(process, log, needs, temporary)
    os.set_blocking(worker.writer, False)
    return worker


def _import_path() -> list[str]:
    """Where a worker imports from: where its parent does. It is handed over instead of PYTHONPATH and without
    the current folder, which may be linted, unless the tool itself is in it or the user named it.
    """
    here = os.path.realpath(os.getcwd())
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    kept = {os.path.realpath(path) for path in (own, *python_path())}
    path = [os.path.abspath(entry) for entry in sys.path]
    return [entry for entry in path if os.path.realpath(entry) != here or here in kept]


def python_path() -> list[str]:
    """The entries of the import path that the user named in the environment."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [os.path.abspath(path) for path in named if path]


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker and whatever is in its process group."""
    # Not yet waited for, the process keeps its number, so that its group cannot be somebody else's.
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
