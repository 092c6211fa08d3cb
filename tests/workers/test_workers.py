"""A worker may die in any way: its task is reported as failed, the others go on, nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relax_lint.running.pool import Failed, FailureKind, Finished, Item, TaskFailure, WorkerPool

TASKS = "worker_tasks"
GIB = 1 << 30


def restore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pool(
    jobs: int = 1,
    time_limit_s: float = 20.0,
    memory_limit_bytes: int | None = None,
    sandbox: str = "auto",
) -> WorkerPool:
    return WorkerPool(jobs, time_limit_s=time_limit_s, memory_limit_bytes=memory_limit_bytes, sandbox=sandbox)


def run(workers: WorkerPool, *calls: tuple[Any, ...]) -> dict[int, tuple[list[Any], TaskFailure | None]]:
    """The items and the failure of every call, by the order in which they were submitted."""
    for function, *arguments in calls:
        workers.submit(f"{TASKS}:{function}", *arguments)
    outcome: dict[int, tuple[list[Any], TaskFailure | None]] = {n: ([], None) for n in range(len(calls))}
    for event in workers.events():
        if isinstance(event, Item):
            outcome[event.task][0].append(event.value)
        elif isinstance(event, Failed):
            outcome[event.task] = (outcome[event.task][0], event.failure)
    return outcome


def failure_of(workers: WorkerPool, *call: Any) -> TaskFailure:
    """The failure of one call that is followed by one that works: the pool must survive the first."""
    outcome = run(workers, call, ("double", 21))
    failure = outcome[0][1]
    assert failure is not None
    assert outcome[1] == ([42], None)
    return failure


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until_gone(processes: list[int], limit_s: float = 5.0) -> None:
    end = time.monotonic() + limit_s
    while any(is_alive(process) for process in processes):
        assert time.monotonic() < end, f"still there: {[p for p in processes if is_alive(p)]}"
        time.sleep(0.02)


def test_items_arrive_in_order_and_one_process_serves_many_tasks() -> None:
    with pool() as workers:
        outcome = run(workers, ("count", 3), ("double", 2), ("process_id",), ("process_id",))
    assert outcome[0] == ([0, 1, 2], None)
    assert outcome[1] == ([4], None)
    assert outcome[2] == outcome[3]


def test_tasks_run_side_by_side() -> None:
    with pool(jobs=2) as workers:
        workers.submit(f"{TASKS}:tick", 1, 1.0)
        workers.submit(f"{TASKS}:process_id")
        ends = [event.task for event in workers.events() if isinstance(event, Finished)]
    assert ends == [1, 0]


def test_more_tasks_can_be_submitted_while_events_are_read() -> None:
    with pool() as workers:
        workers.submit(f"{TASKS}:double", 1)
        values = []
        for event in workers.events():
            if isinstance(event, Item):
                values.append(event.value)
                if event.value < 16:
                    workers.submit(f"{TASKS}:double", event.value)
    assert values == [2, 4, 8, 16]


def test_a_request_larger_than_a_pipe_and_a_large_answer_pass() -> None:
    with pool() as workers:
        outcome = run(workers, ("count", 3, *()), ("double", "x" * 3_000_000))
    assert len(outcome[1][0][0]) == 6_000_000


def test_segfault_keeps_what_was_done_and_the_last_words() -> None:
    with pool() as workers:
        outcome = run(workers, ("segfault",), ("double", 21))
    items, failure = outcome[0]
    assert items == ["before"]
    assert failure is not None
    assert (failure.kind, failure.signal) == (FailureKind.CRASH, signal.SIGSEGV)
    assert failure.message == "was ended by SIGSEGV"
    assert failure.last_words[:2] == ("the last words", "of this process")
    assert outcome[1] == ([42], None)


def test_hang_is_ended_at_the_limit() -> None:
    with pool(time_limit_s=0.7) as workers:
        begin = time.monotonic()
        failure = failure_of(workers, "hang")
        assert time.monotonic() - begin < 5
    assert (failure.kind, failure.message) == (FailureKind.TIMEOUT, "ran for more than 0.7 seconds")


def test_the_time_limit_is_per_item() -> None:
    with pool(time_limit_s=1.0) as workers:
        assert run(workers, ("tick", 4, 0.4))[0] == ([0, 1, 2, 3], None)


def test_memory_is_limited() -> None:
    with pool(memory_limit_bytes=GIB // 2) as workers:
        failure = failure_of(workers, "eat_memory")
    assert (failure.kind, failure.message) == (FailureKind.MEMORY, "needed more than 512 MiB of memory")


def test_abort_for_want_of_memory_is_told_from_another_abort() -> None:
    with pool() as workers:
        failure = failure_of(workers, "abort_out_of_memory")
    assert (failure.kind, failure.signal) == (FailureKind.MEMORY, signal.SIGABRT)


@pytest.mark.parametrize("code", [0, 3])
def test_leaving_the_process_is_a_crash(code: int) -> None:
    with pool() as workers:
        failure = failure_of(workers, "leave", code)
    assert (failure.kind, failure.exit_code) == (FailureKind.CRASH, code)


def test_kill_from_outside_is_a_crash() -> None:
    with pool() as workers:
        failure = failure_of(workers, "interrupt_self")
    assert (failure.kind, failure.signal) == (FailureKind.CRASH, signal.SIGKILL)


def test_a_worker_that_hangs_up_but_lives_is_ended() -> None:
    with pool() as workers:
        assert failure_of(workers, "read_no_request_again").message == "closed its connection"


def test_exception_carries_message_traceback_and_output() -> None:
    with pool() as workers:
        failure = failure_of(workers, "raise_error", "no such thing")
    assert (failure.kind, failure.message) == (FailureKind.EXCEPTION, "ValueError: no such thing")
    assert failure.last_words == ("said on standard output", "said on standard error")
    assert failure.traceback[-1] == "ValueError: no such thing"


def test_last_words_are_of_the_failing_task_only() -> None:
    with pool() as workers:
        outcome = run(workers, ("chatter",), ("raise_error", "x"))
    failure = outcome[1][1]
    assert failure is not None
    assert failure.last_words == ("said on standard output", "said on standard error")
    assert not failure.fresh_worker


@pytest.mark.parametrize(
    ("task", "message"), [("recurse", "RecursionError: "), ("system_exit", "SystemExit: 7")]
)
def test_recursion_and_system_exit_are_exceptions(task: str, message: str) -> None:
    with pool() as workers:
        failure = failure_of(workers, task)
    assert failure.kind is FailureKind.EXCEPTION
    assert failure.message.startswith(message)


def test_an_unknown_function_is_an_exception() -> None:
    with pool() as workers:
        assert "no_such" in failure_of(workers, "no_such").message


def test_nothing_that_a_task_prints_reaches_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with pool() as workers:
        assert run(workers, ("chatter",))[0] == ([""], None)
    assert capfd.readouterr() == ("", "")


def test_the_environment_is_minimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_TOKEN", "secret")
    monkeypatch.setenv("TVM_LOG_DEBUG", "1")
    with pool() as workers:
        ((environment,), _) = run(workers, ("environment",))[0]
    assert not {"CI_TOKEN", "TVM_LOG_DEBUG", "PYTHONPATH"} & environment.keys()
    assert environment["OMP_NUM_THREADS"] == environment["TVM_NUM_THREADS"] == "1"


def test_leaving_the_pool_ends_workers_and_what_they_started(tmp_path: Path) -> None:
    note = tmp_path / "processes"
    # In its sandbox a worker starts nothing.
    with pool(sandbox="off") as workers:
        workers.submit(f"{TASKS}:child_of_worker", str(note))
        next(workers.events())
        processes = [int(word) for word in note.read_text().split()]
        assert all(is_alive(process) for process in processes)
    wait_until_gone(processes)


PARENT = """
from relax_lint.running.pool import WorkerPool
if __name__ == "__main__":
    with WorkerPool(1, time_limit_s=60, memory_limit_bytes=None, sandbox="off") as pool:
        pool.submit("worker_tasks:child_of_worker", {note!r})
        for event in pool.events():
            print("main ran", flush=True)
"""


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A program that uses a pool and is in the middle of a task, and the processes below it."""
    note = tmp_path / "processes"
    script = tmp_path / "program.py"
    script.write_text(PARENT.format(note=str(note)))
    root, here = Path(__file__).parents[2], Path(__file__).parent
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{here}"},
        start_new_session=True,
        # Started by a script in the background, the tests themselves ignore it.
        preexec_fn=restore_interrupt,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "main ran\n"
    yield process, [int(word) for word in note.read_text().split()]
    process.kill()
    process.wait()
    process.communicate()


def test_ctrl_c_leaves_nothing(parent: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, below = parent
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in error
    wait_until_gone(below)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the worker's own timer ends it, later")
def test_death_of_the_parent_ends_a_busy_worker(parent: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, (worker, child) = parent
    process.kill()
    wait_until_gone([worker])
    os.kill(child, signal.SIGKILL)


def test_main_of_the_user_is_not_run_again(parent: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, _ = parent
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output == ""
