"""The process that forks: `python -m tests.forking.server DESCRIPTOR`. It ends with the process that asks it."""

from __future__ import annotations

import gc
import os
import pickle
import socket
import sys
import time

from tests.forking import program
from tests.forking.popen import fork_from_here
from tests.forking.program import REQUEST_BYTES, Program

_PAUSE_S = 0.0002
_LOADED = (
    *(
        "relax_lint.cli",
        "relax_lint.running.file_task",
        "relax_lint.sources.parsing",
        "relax_lint.judging.report",
    ),
    *("relax_lint.sources.saved", "relax_lint.replay.child", "relax_lint.running.worker_process"),
)


def main() -> None:
    """Load, then answer: a program is begun, and its number told."""
    # The first entry is the folder that this module is found in; a program names its own paths before the rest.
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = {path: path in map(os.path.abspath, named) for path in sys.path[1:]}
    program.base_path[:] = sorted(paths, key=lambda path: paths[path])
    program.load(_LOADED)
    fork_from_here()
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        while True:
            request, descriptors, _, _ = socket.recv_fds(asked, REQUEST_BYTES, 3)
            if not request:
                return
            asked.send(b"%d" % _forked(pickle.loads(request), descriptors, asked))
            for descriptor in descriptors:
                os.close(descriptor)


def _forked(request: Program, descriptors: list[int], asked: socket.socket) -> int:
    """The number of a process that runs a program. The one between ends at once: who has asked adopts it."""
    told, tells = os.pipe()
    between = os.fork()
    if between == 0:
        own = os.getpid()
        if os.fork():
            os._exit(0)
        asked.detach()
        while os.getppid() == own:
            time.sleep(_PAUSE_S)
        program.become(request, descriptors, tells)
    os.close(tells)
    os.waitpid(between, 0)
    with open(told, "rb") as answer:
        return int(answer.read(program.NUMBER_BYTES))


if __name__ == "__main__":
    main()
