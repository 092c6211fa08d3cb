"""What a worker would do if somebody's code ran in it. Each deed returns when it is done, or raises."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from relax_lint.running.sandbox.entering import seal
from relax_lint.running.sandbox.syscalls import numbers, system_call

Deed = Callable[[Mapping[str, Any]], object]
_MAP_PRIVATE, _MAP_ANONYMOUS, _PAGE = 2, 0x20, 4096


def attempt(name: str, facts: Mapping[str, Any]) -> Iterator[Any]:
    """Whether a deed could be done, and what was in the way."""
    seal()
    try:
        DEEDS[name](facts)
    except Exception as error:
        yield [False, f"{type(error).__name__}: {error}"]
    else:
        yield [True, ""]


def load_tvm_and_work() -> Iterator[Any]:
    """What a worker has to be able to do all the same."""
    import sympy
    import tvm

    seal()
    n = sympy.Symbol("n")
    with open("scratch", "w") as file:
        file.write("x")
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    yield [tvm.__version__ != "", str(sympy.expand((n + 1) ** 2)), os.listdir(".")]


def abort() -> Iterator[Any]:
    os.abort()
    yield None


def _system_call(name: str, *arguments: int) -> None:
    system_call(numbers(os.uname().machine)[name], *arguments)


def _let_through(name: str, *arguments: int) -> None:
    """A system call with arguments that the kernel refuses in other words than the filter."""
    try:
        _system_call(name, *arguments)
    except OSError as error:
        if error.errno == errno.EPERM:
            raise


def _start(command: list[str]) -> None:
    if subprocess.run(command, check=False).returncode:
        raise OSError("failed")


def _shell(_: object) -> None:
    if os.system("exit 0"):
        raise OSError("failed")


def _fork(_: object) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _spawn(_: object) -> None:
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", "pass"], {})
    if os.waitpid(child, 0)[1]:
        raise OSError("failed")


def _connect(facts: Mapping[str, Any]) -> None:
    with socket.socket() as connection:
        connection.connect((b"127.0.0.1", facts["port"]))


def _abstract(facts: Mapping[str, Any]) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("\0" + facts["abstract"])


def _executable_memory(protection: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    flags = _MAP_PRIVATE | _MAP_ANONYMOUS
    found = library.mmap(None, ctypes.c_size_t(_PAGE), protection, flags, -1, ctypes.c_long(0))
    if found == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")


def _made_executable(_: object) -> None:
    with mmap.mmap(-1, _PAGE) as memory:
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        library = ctypes.CDLL(None, use_errno=True)
        if library.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(_PAGE), 5):
            raise OSError(ctypes.get_errno(), "mprotect")


def _trace(facts: Mapping[str, Any]) -> None:
    attach, detach = 16, 17
    _system_call("ptrace", attach, facts["parent"], 0, 0)
    _system_call("ptrace", detach, facts["parent"], 0, 0)


def _memory_of_parent(facts: Mapping[str, Any]) -> None:
    with open(f"/proc/{facts['parent']}/mem", "rb"):
        pass


def _more_files(_: object) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))


def _memory_file(_: object) -> None:
    descriptor = os.memfd_create("program")
    with open(sys.executable, "rb") as program:
        os.write(descriptor, program.read())
    os.close(descriptor)


def _write(path: str) -> None:
    Path(path).write_text("was here")


def _signal_by_an_owner(facts: Mapping[str, Any]) -> None:
    """Whatever then happens at the descriptor is a signal to the parent."""
    descriptor, other = os.pipe()
    with os.fdopen(descriptor), os.fdopen(other, "w"):
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, facts["parent"])


def _visible(_: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(4, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


DEEDS: Mapping[str, Deed] = {
    "read-a-secret-at-home": lambda facts: Path(facts["home"], "secret").read_text(),
    "read-in-the-linted-folder": lambda facts: Path(facts["linted"], "secret").read_text(),
    "read-by-a-link": lambda facts: Path(facts["linted"], "link").read_text(),
    "read-passwords": lambda _: Path("/etc/passwd").read_text(),
    "list-the-linted-folder": lambda facts: os.listdir(facts["linted"]),
    "list-the-parent": lambda facts: os.listdir(f"/proc/{facts['parent']}"),
    "environment-of-the-parent": lambda facts: Path(f"/proc/{facts['parent']}/environ").read_bytes(),
    "memory-of-the-parent": _memory_of_parent,
    "files-of-the-parent": lambda facts: os.readlink(f"/proc/{facts['parent']}/fd/0"),
    "own-memory": lambda _: Path("/proc/self/maps").read_text(),
    "write-in-the-linted-folder": lambda facts: _write(f"{facts['linted']}/new"),
    "overwrite-what-is-linted": lambda facts: _write(f"{facts['linted']}/secret"),
    "write-at-home": lambda facts: _write(f"{facts['home']}/new"),
    "write-in-the-folder-of-temporary-files": lambda facts: _write(facts["scratch"]),
    "remove": lambda facts: os.unlink(f"{facts['linted']}/remove"),
    "rename": lambda facts: os.rename(f"{facts['linted']}/rename", f"{facts['linted']}/renamed"),
    "make-a-folder": lambda facts: os.mkdir(f"{facts['linted']}/folder"),
    "link": lambda facts: os.symlink("/etc/passwd", f"{facts['linted']}/another"),
    "link-into-the-own-folder": lambda facts: os.link(f"{facts['linted']}/secret", "secret"),
    "cut": lambda facts: os.truncate(f"{facts['linted']}/cut", 0),
    "change-the-mode": lambda facts: os.chmod(f"{facts['linted']}/secret", 0o777),
    "change-the-times": lambda facts: os.utime(f"{facts['linted']}/secret", (0, 0)),
    "connect": _connect,
    "udp": lambda _: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "unix-socket": lambda _: socket.socket(socket.AF_UNIX).close(),
    "abstract-unix-socket": _abstract,
    "pair-of-sockets": lambda _: socket.socketpair()[0].close(),
    "start-a-shell": _shell,
    "start-a-program": lambda _: _start([sys.executable, "-c", "pass"]),
    "spawn": _spawn,
    "fork": _fork,
    "become-a-program": lambda facts: os.execv(facts["library"], ["x"]),
    "load-a-library-of-the-linted-folder": lambda facts: ctypes.CDLL(facts["library"]),
    "executable-memory": lambda _: _executable_memory(5),
    "writable-and-executable-memory": lambda _: _executable_memory(7),
    "memory-made-executable": _made_executable,
    "trace-the-parent": _trace,
    "signal-to-the-parent": lambda facts: os.kill(facts["parent"], 0),
    "signal-to-a-thread-of-the-parent": lambda facts: _system_call(
        "tgkill", facts["parent"], facts["parent"], 0
    ),
    "signal-to-all": lambda _: os.kill(-1, 0),
    "signal-through-a-descriptor": lambda facts: signal.pidfd_send_signal(os.pidfd_open(facts["parent"]), 0),
    "set-a-limit": _more_files,
    "be-visible": _visible,
    "leave-the-session": lambda _: os.setpgid(0, 0),
    "slow-down-the-parent": lambda facts: os.setpriority(os.PRIO_PROCESS, facts["parent"], 19),
    "io-uring": lambda _: _system_call("io_uring_setup", 1, 0),
    "file-in-memory": _memory_file,
    "user-fault": lambda _: os.close(system_call(numbers(os.uname().machine)["userfaultfd"], 1)),
    "namespace": lambda _: _system_call("unshare", 0x10000000),
    "bpf": lambda _: _system_call("bpf", 99, 0, 0),
    "performance-counters": lambda _: _system_call("perf_event_open", 0, 0, 0, 0, 0),
    "keys": lambda _: _system_call("keyctl", 0, -3, 0),
    "shared-memory": lambda _: _system_call("shmget", 0, _PAGE, 0o1600),
    "signal-through-an-owner": _signal_by_an_owner,
    "signal-of-ones-choice": lambda _: fcntl.fcntl(1, 10, 0),
    "shared-memory-of-others": lambda _: _let_through("shmctl", -1, 0, 0),
    "message-queue-of-others": lambda _: _let_through("msgctl", -1, 0, 0),
    "message-to-others": lambda _: _let_through("msgsnd", -1, 0, 0, 0),
    "message-of-others": lambda _: _let_through("msgrcv", -1, 0, 0, 0, 0),
    "semaphores-of-others": lambda _: _let_through("semctl", -1, 0, 0, 0),
    "semaphore-of-others": lambda _: _let_through("semop", -1, 0, 0),
    "message-queue": lambda _: _system_call("msgget", 0, 0o1600),
}
