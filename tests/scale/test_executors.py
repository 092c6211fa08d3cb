"""The work on a file as a task of an executor: pools of this machine, and a real Dask cluster."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import relax_lint
from relax_lint.output.json import render_json
from relax_lint.running import executors, pool, working
from relax_lint.running.executors import ExecutorError, WatchedExecutor, open_executor
from relax_lint.running.handing_out import judge_files
from relax_lint.running.kept_pools import close_kept_pools
from relax_lint.running.messages import FileData
from relax_lint.running.runner import run
from relax_lint.running.starting import start_worker
from relax_lint.settings.config import Config
from relax_lint.support.errors import RunError

PROGRAM = """\
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([BYTES]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        return alloc
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        Path(f"{number}.py").write_text(PROGRAM.replace("BYTES", str(16 * number)))
    Path("3.py").write_text("import os\n")
    return tmp_path


@pytest.fixture
def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Files of units that a stand-in for the analysis takes at their word."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "cli"))
    monkeypatch.setattr(working, "FUNCTION", "runner_tasks:analyse")

    def write(name: str, units: str) -> None:
        Path(name).write_text(f"# tvm ir_module {units}")

    return write


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


@pytest.mark.parametrize(
    "name", ["dask", "dask://", "dask://host", "dask://user@host:1", "ray://host:1", "http://h:1"]
)
def test_only_dask_is_known(name: str) -> None:
    with pytest.raises(ExecutorError, match="`--executor` takes dask://host:port"), open_executor(name):
        pass


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "_CONNECT_S", 0.3)
    with (
        pytest.raises(ExecutorError, match=r"^no Dask scheduler answers at 127\.0\.0\.1:9: "),
        open_executor("dask://127.0.0.1:9"),
    ):
        pass


class Deaf(Executor):
    """Takes tasks and has nobody to work on them."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        return Future()


def test_without_workers_the_tasks_are_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_PULSE_S", 0.01)
    monkeypatch.setattr(executors, "_PATIENCE_S", 0.1)
    with WatchedExecutor(Deaf(), "here:1", lambda: False) as executor:
        results = run(["1.py", "2.py"], Config(), executor=executor).files
    words = "the Dask cluster at here:1 has had no worker for 0.1 seconds"
    message = f"the executor did not analyse this input: ExecutorError: {words}"
    assert [[check.message for check in result.checks] for result in results] == [[message]] * 2


def test_workers_that_come_back_in_time_are_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_PULSE_S", 0.01)
    monkeypatch.setattr(executors, "_PATIENCE_S", 60.0)
    answers = iter((False, False, False))
    with ThreadPoolExecutor(1) as threads:
        executor = WatchedExecutor(threads, "here:1", lambda: next(answers, True))
        with executor:
            (result,) = run(["1.py"], Config(), executor=executor).files
    assert result.input.status == "checked"


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        yield cluster.scheduler_address.removeprefix("tcp://")


def report_of(*arguments: str) -> str:
    """What the command prints about this folder as JSON, without the cache."""
    command = [
        sys.executable,
        "-m",
        "relax_lint.cli",
        ".",
        "--no-cache",
        "--output-format",
        "json",
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (1, "")
    return done.stdout


@pytest.mark.slow
def test_a_dask_cluster_finds_what_the_workers_find(folder: Path, cluster: str) -> None:
    remote = report_of("--executor", f"dask://{cluster}")
    assert remote == report_of()
    assert '"safe_when": "m <= 8"' in remote


DEAD = """\
import sys
from distributed import LocalCluster
from relax_lint.running import executors
from relax_lint.cli import main

if __name__ == "__main__":
    executors._PATIENCE_S = 1.0
    with LocalCluster(
        n_workers=1, processes=False, dashboard_address=None, protocol="tcp://", host="127.0.0.1"
    ) as cluster:
        cluster.scale(0)
        cluster.sync(cluster._correct_state)
        address = cluster.scheduler_address.removeprefix("tcp://")
        sys.exit(main(["1.py", "--no-cache", "--executor", f"dask://{address}"]))
"""


@pytest.mark.slow
def test_a_cluster_without_workers_is_not_waited_for(folder: Path) -> None:
    pytest.importorskip("distributed")
    Path("dead.py").write_text(DEAD)
    command = [sys.executable, "dead.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    assert "has had no worker for 1 seconds" in done.stdout
