"""A process that is forked is what an interpreter would have started, but for the time that it takes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import forking
from tests.forking import Forked
from tests.forking.server_process import server_for

pytestmark = pytest.mark.skipif(server_for(os.environ) is None, reason="nothing is forked here")

LOADED = "import sys; print('tvm' in sys.modules)"
PROGRAMS = {
    "nothing": "pass",
    "output": "import sys; print('out'); print('err', file=sys.stderr)",
    "no line end": "import sys; sys.stdout.write('out')",
    "a code": "raise SystemExit(3)",
    "a large code": "raise SystemExit(300)",
    "words at the end": "raise SystemExit('no')",
    "an exception": "def f():\n    1 / 0\nf()",
    "an interrupt": "raise KeyboardInterrupt",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "an abort": "import os; os.abort()",
    "what is left to do": "import atexit; atexit.register(print, 'at the end'); print('before')",
    "a thread": "import threading, time; threading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()",
    "input": "import sys; print(sys.stdin.read().upper())",
    "arguments": "import sys; print(sys.argv, sys.path[0])",
    "surroundings": "import os; print(os.getcwd(), os.environ['OWN'], 'HOME' in os.environ)",
    "the module": "print(__name__, sorted(name for name in globals() if name[0] != '_'))",
    "streams": "import sys; print(sys.stdin.encoding, sys.stdout.errors, sys.stderr.errors, sys.stdout.isatty())",
    "descriptors": "import os; print([n for n in range(3, 30) if os.path.exists(f'/proc/self/fd/{n}')][1:])",
    "handlers": "import signal; print(signal.getsignal(2), signal.getsignal(15), signal.getsignal(13))",
    "a child": "import subprocess; print(subprocess.run(['sh', '-c', 'exit 7']).returncode)",
    "a signal for later": "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
}


def _outcome(start: Any, program: str, folder: Path) -> tuple[int, str, str]:
    done = start(
        [sys.executable, "-c", program, "one", "two words"],
        cwd=folder,
        env={"OWN": "\udce4", "PATH": os.environ["PATH"], **_read_early()},
        input="given",
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def _read_early() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "LANG", "LC_", "LD_"))
    }


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_it_does_what_a_process_does(program: str, tmp_path: Path) -> None:
    assert _outcome(forking.run, program, tmp_path) == _outcome(subprocess.run, program, tmp_path)


def test_tvm_is_loaded_in_it_alone(tmp_path: Path) -> None:
    assert _outcome(forking.run, LOADED, tmp_path)[1] == "True\n"
    assert _outcome(subprocess.run, LOADED, tmp_path)[1] == "False\n"


def test_it_is_a_child_that_is_waited_for_and_ended_as_any_other() -> None:
    with Forked([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True) as process:
        assert process.poll() is None
        group = os.getpgid(process.pid)
        parent = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[1]
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM
    assert (group, parent) == (process.pid, str(os.getpid()))
    assert not Path(f"/proc/{process.pid}").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"env": {"PATH": os.environ["PATH"], "PYTHONUTF8": "0"}},
        {"env": {**os.environ, "PYTHONHASHSEED": "7"}},
        {"env": {**os.environ, "LC_ALL": "POSIX"}},
        {"preexec_fn": os.getpid},
    ],
    ids=["mode", "hashes", "locale", "preparation"],
)
def test_what_a_fork_cannot_be_is_started(options: dict[str, Any]) -> None:
    done = forking.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, **options)
    assert done.stdout == "False\n"


def test_a_folder_that_is_not_there_is_no_crash(tmp_path: Path) -> None:
    done = forking.run([sys.executable, "-c", "pass"], cwd=tmp_path / "none", capture_output=True, text=True)
    assert done.returncode == 1
    assert "FileNotFoundError" in done.stderr
