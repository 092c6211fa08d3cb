"""The work on files as tasks of an executor."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import relax_lint
from relax_lint.output.json import render_json
from relax_lint.running import handing_out, pool, working
from relax_lint.running.handing_out import judge_files
from relax_lint.running.kept_pools import close_kept_pools
from relax_lint.running.messages import FileData
from relax_lint.running.runner import run
from relax_lint.running.starting import start_worker
from relax_lint.settings.config import Config
from relax_lint.support.errors import RunError


@pytest.mark.parametrize(
    "make", [ThreadPoolExecutor, pytest.param(ProcessPoolExecutor, marks=pytest.mark.slow)]
)
def test_an_executor_finds_what_the_workers_find(folder: Path, make: Callable[[int], Executor]) -> None:
    names = ["1.py", "2.py", "3.py"]
    with make(2) as executor:
        report = relax_lint.check(names, executor=executor)
    assert render_json(report) == render_json(relax_lint.check(names))
    assert [file.input.status for file in report.files] == ["checked", "checked", "skipped"]


def test_the_task_and_its_answer_are_plain() -> None:
    file = FileData(b"data", "a.py", "python", True)
    assert pickle.loads(pickle.dumps((judge_files, [file], Config()))) == (judge_files, [file], Config())


def test_a_crash_is_isolated_on_the_other_side_too(stand_in: Callable[[str, str], None]) -> None:
    stand_in("1.py", "a crash b")
    stand_in("2.py", "c")
    with ThreadPoolExecutor(2) as executor:
        crashed, other = run(["1.py", "2.py"], Config(), executor=executor).files
    assert crashed.input.notes == ("a", "b")
    assert [check.rule for check in crashed.checks] == ["RLX904"]
    assert (other.input.notes, other.checks) == (("c",), ())


def test_what_is_impossible_there_is_impossible(
    stand_in: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("1.py", "no-tvm")
    monkeypatch.setattr(working, "LOADING", "runner_tasks:load_nothing")
    with ThreadPoolExecutor(1) as executor, pytest.raises(RunError, match="TVM cannot be loaded"):
        run(["1.py"], Config(), executor=executor)


def test_both_sides_have_one_version() -> None:
    file = FileData(b"", "a.py", "python", True)
    with pytest.raises(RunError, match=r"the executor runs relax-lint .*, not 9\.9"):
        judge_files([file], Config(), False, "9.9")


def test_a_worker_is_kept_for_the_next_task(
    stand_in: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{number}.py" for number in range(4)]
    for name in names:
        stand_in(name, "a")
    started = []

    def start(*arguments: Any) -> Any:
        started.append(arguments)
        return start_worker(*arguments)

    monkeypatch.setattr(pool, "start_worker", start)
    close_kept_pools()
    with ThreadPoolExecutor(1) as executor:
        run(names, Config(), executor=executor)
        run(names, Config(), executor=executor)
        assert len(started) == 1
        # Other limits need another process.
        run(names, Config(time_limit=17), executor=executor)
        assert len(started) == 2
    close_kept_pools()


class Counting(Executor):
    """Works at once, and notes how many files came with each task; `refuse` fails those of more than one."""

    def __init__(self, *, refuse: bool = False) -> None:
        self.sizes: list[int] = []
        self._refuse = refuse

    def submit(self, fn: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.sizes.append(len(arguments[0]))
        if self._refuse and len(arguments[0]) > 1:
            future.set_exception(ConnectionError("the worker is gone"))
        else:
            future.set_result(fn(*arguments))
        return future


@pytest.mark.parametrize(("files", "most"), [(5, 1), (70, 2), (100, 3)])
def test_files_go_in_chunks(stand_in: Callable[[str, str], None], files: int, most: int) -> None:
    names = [f"{number}.py" for number in range(files)]
    for name in names:
        stand_in(name, name[:-3])
    executor = Counting()
    report = run(names, Config(), executor=executor)
    assert max(executor.sizes) == most
    assert sum(executor.sizes) == files
    assert [file.input.notes for file in report.files] == [(name[:-3],) for name in names]


def test_files_of_a_lost_chunk_are_tried_alone(stand_in: Callable[[str, str], None]) -> None:
    names = [f"{number}.py" for number in range(70)]
    for name in names:
        stand_in(name, "a")
    executor = Counting(refuse=True)
    report = run(names, Config(), executor=executor)
    assert executor.sizes.count(2) == 35
    assert executor.sizes.count(1) == 70
    assert not report.checks


class Faulty(Executor):
    """Fails in one way or another instead of working."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if isinstance(self.answer, Exception):
            future.set_exception(self.answer)
        else:
            future.set_result(self.answer)
        return future


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ConnectionError("gone\nfor good"), "ConnectionError: gone"),
        ("all is fine", "Error: "),
        (None, "Error: "),
    ],
)
def test_what_the_executor_does_wrong_is_a_finding(folder: Path, answer: Any, words: str) -> None:
    (result,) = run(["1.py"], Config(), executor=Faulty(answer)).files
    assert [check.rule for check in result.checks] == ["RLX904"]
    assert result.checks[0].message.startswith("the executor did not analyse this input: ")
    assert words in result.checks[0].message
    assert result.input.status == "failed"


def test_large_files_are_not_all_with_the_executor_at_once(
    stand_in: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        stand_in(f"{number}.py", "a")
    monkeypatch.setattr(handing_out, "IN_FLIGHT_BYTES", 50)
    with ThreadPoolExecutor(1) as threads:
        executor = Watching(threads)
        run([f"{number}.py" for number in range(6)], Config(), executor=executor)
    # Each file has 20 bytes.
    assert executor.most == 2


class Watching(Executor):
    """Hands on, and notes how many tasks were there at a time."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner
        self._futures: list[Future[Any]] = []
        self.most = 0

    def submit(self, fn: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        self._futures.append(self._inner.submit(fn, *arguments, **named))
        self.most = max(self.most, sum(not future.done() for future in self._futures))
        return self._futures[-1]
