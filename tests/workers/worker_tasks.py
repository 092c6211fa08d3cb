"""Tasks for the worker tests: what hostile or unlucky input does to a process."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator


def double(value: int) -> list[int]:
    return [2 * value]


def count(limit: int) -> Iterator[int]:
    yield from range(limit)


def process_id() -> list[int]:
    return [os.getpid()]


def segfault() -> Iterator[str]:
    yield "before"
    os.write(2, b"the last words\nof this process\n")
    ctypes.string_at(0)
    yield "never"


def hang() -> Iterator[str]:
    yield "before"
    time.sleep(600)


def tick(items: int, pause_s: float) -> Iterator[int]:
    for item in range(items):
        time.sleep(pause_s)
        yield item


def eat_memory() -> list[int]:
    eaten = [bytes(1 << 24) for _ in range(1 << 12)]
    return [len(eaten)]


def abort_out_of_memory() -> list[int]:
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
    os.abort()


def leave(code: int) -> list[int]:
    os._exit(code)


def system_exit() -> list[int]:
    sys.exit(7)


def raise_error(text: str) -> Iterator[int]:
    yield 1
    print("said on standard output", flush=True)
    os.write(2, b"said on standard error\n")
    raise ValueError(text)


def recurse() -> list[int]:
    return recurse()


def chatter() -> list[str]:
    print("python says", flush=True)
    os.write(1, b"C++ says\n")
    os.write(2, b"C++ warns\n")
    return [sys.stdin.read()]


def environment() -> list[dict[str, str]]:
    return [dict(os.environ)]


def interrupt_self() -> list[str]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def read_no_request_again() -> list[str]:
    os.closerange(3, 64)
    time.sleep(600)
    return []


def child_of_worker(note: str) -> Iterator[int]:
    """Start a grandchild and hang: leaving must end it too."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(note, "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    yield child.pid
    time.sleep(600)
