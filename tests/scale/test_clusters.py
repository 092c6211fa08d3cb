"""A Dask cluster as the executor: its end, lost connections, and real clusters."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from relax_lint.cli import main
from relax_lint.output.json import render_json
from relax_lint.results.report import Report
from relax_lint.running import executors
from relax_lint.running.executors import Cluster, ExecutorError, WatchedExecutor, open_executor
from relax_lint.running.runner import judge_inputs, run
from relax_lint.settings.config import Config
from relax_lint.sources.discovery import discover
from tests.scale.conftest import PROGRAM


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
    """Takes tasks, works on the first `heard` of them and on no other."""

    def __init__(self, heard: int = 0) -> None:
        self._heard = heard

    def submit(self, fn: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self._heard:
            self._heard -= 1
            future.set_result(fn(*arguments))
        return future


class Forgetful(Executor):
    """Cancels the first tasks as a Dask client does that loses its connection, and refuses some more."""

    def __init__(self, cancelled: int, refused: int = 0) -> None:
        self.left = [cancelled, refused]

    def submit(self, fn: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.left[0]:
            self.left[0] -= 1
            future.cancel()
            future.set_running_or_notify_cancel()
        elif self.left[1]:
            self.left[1] -= 1
            raise RuntimeError("not connected")
        else:
            future.set_result(fn(*arguments))
        return future


class Workers(Cluster):
    """A cluster that has workers or not, one answer after the other and then `finally_`."""

    def __init__(self, *answers: bool, finally_: bool, lost: bool = False) -> None:
        super().__init__(None, "here:1")
        object.__setattr__(self, "_answers", iter(answers))
        object.__setattr__(self, "_rest", (finally_, lost))

    def has_workers(self) -> bool:
        return next(self._answers, self._rest[0])  # type: ignore[attr-defined,no-any-return]

    def is_lost(self) -> bool:
        return self._rest[1]  # type: ignore[attr-defined,no-any-return]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_PULSE_S", 0.01)
    monkeypatch.setattr(executors, "_PATIENCE_S", 0.1)


NOBODY = "the Dask cluster at here:1 has had no worker for 0.1 seconds"
GONE = "the Dask scheduler at here:1 is gone"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("lost", "words"), [(False, NOBODY), (True, GONE)])
def test_without_workers_the_tasks_are_given_up(folder: Path, lost: bool, words: str) -> None:
    cluster = Workers(finally_=False, lost=lost)
    with WatchedExecutor(Deaf(), cluster) as executor, pytest.raises(ExecutorError, match=words):
        run(["1.py", "2.py"], Config(), executor=executor)


@pytest.mark.usefixtures("impatient")
def test_the_end_of_a_cluster_is_told_once_with_the_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def half_deaf(name: str, *, debug: bool) -> Iterator[Executor]:
        with WatchedExecutor(Deaf(heard=1), Workers(finally_=False)) as executor:
            yield executor

    monkeypatch.setattr(executors, "open_executor", half_deaf)
    arguments = ["1.py", "2.py", "3.py", "--no-cache", "--executor", "dask://here:1", "--exit-zero"]
    assert main([*arguments, "--output-format", "json"]) == 2
    said = capsys.readouterr()
    assert said.err == f"relax-lint: error: {NOBODY}: 2 of 3 inputs judged, not analysed:\n  2.py\n"
    report = json.loads(said.out)
    first, second, third = report["inputs"]
    assert (first["status"], third["status"]) == ("checked", "skipped")
    assert (second["status"], second["reason"]) == ("failed", f"not analysed: {NOBODY}")
    assert {check["path"] for check in report["checks"]} == {"1.py"}


@pytest.mark.usefixtures("impatient")
def test_what_writes_files_does_nothing_without_a_cluster(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def deaf(name: str, *, debug: bool) -> Iterator[Executor]:
        with WatchedExecutor(Deaf(), Workers(finally_=False)) as executor:
            yield executor

    monkeypatch.setattr(executors, "open_executor", deaf)
    arguments = ["--write-baseline", "--baseline", "b.json", "--executor", "dask://here:1", "--no-cache"]
    assert main(["1.py", *arguments]) == 2
    assert capsys.readouterr().err == f"relax-lint: error: {NOBODY}\n"
    assert not Path("b.json").exists()


def test_workers_that_come_back_in_time_are_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_PULSE_S", 0.01)
    cluster = Workers(False, False, False, finally_=True)
    with ThreadPoolExecutor(1) as threads, WatchedExecutor(threads, cluster) as executor:
        (result,) = run(["1.py"], Config(), executor=executor).files
    assert result.input.status == "checked"


@pytest.mark.parametrize(("cancelled", "refused"), [(2, 0), (0, 2), (1, 3)])
def test_what_a_connection_takes_with_it_is_sent_again(
    stand_in: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    cancelled: int,
    refused: int,
) -> None:
    monkeypatch.setattr(executors, "_PULSE_S", 0.01)
    stand_in("1.py", "a")
    forgetful = Forgetful(cancelled, refused)
    with WatchedExecutor(forgetful, Workers(finally_=True)) as executor:
        (result,) = run(["1.py"], Config(), executor=executor).files
    assert (result.input.notes, result.checks, forgetful.left) == (("a",), (), [0, 0])


@pytest.mark.parametrize(
    ("cancelled", "refused", "words"),
    [(9, 0, "ConnectionError: lost 5 times"), (0, 9, "RuntimeError: not connected")],
)
def test_what_is_lost_each_time_is_not_sent_for_ever(
    stand_in: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    cancelled: int,
    refused: int,
    words: str,
) -> None:
    monkeypatch.setattr(executors, "_PULSE_S", 0.01)
    stand_in("1.py", "a")
    with WatchedExecutor(Forgetful(cancelled, refused), Workers(finally_=True)) as executor:
        (result,) = run(["1.py"], Config(), executor=executor).files
    assert [check.rule for check in result.checks] == ["RLX904"]
    assert words in result.checks[0].message


RELAX_EVERY = 20
"""How many of the files of a large folder have Relax in them: one of so many."""


@contextmanager
def local_cluster(workers: int = 2) -> Iterator[Any]:
    """A real cluster of worker processes."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        yield cluster


def write_programs(folder: Path, files: int, relax_every: int = 1) -> None:
    """Programs that overflow each at another length, between ordinary files."""
    for number in range(files):
        relax = number % relax_every == 0
        text = (
            PROGRAM.replace("BYTES", str(16 * number + 16)) if relax else f"import os\n\nNUMBER = {number}\n"
        )
        (folder / f"{number:05}.py").write_text(text)


def judged_with(cluster: Any, after: int, then: Callable[[], None]) -> Report:
    """The report on this folder, with `then` done once so many inputs are judged."""
    done = threading.Event()

    def tell(words: str) -> None:
        if int(words.partition(" ")[0]) >= after and not done.is_set():
            done.set()
            then()

    address = cluster.scheduler_address.removeprefix("tcp://")
    with open_executor(f"dask://{address}") as executor:
        report = judge_inputs(discover(["."]), Config(), executor=executor, tell=tell, partial=True)
    assert done.is_set()
    return report


def kill_one(cluster: Any) -> Callable[[], None]:
    """The end of the first worker, as by the kernel when memory is short."""
    return lambda: os.kill(cluster.workers[0].pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(("files", "relax_every"), [(40, 1), (10_000, RELAX_EVERY)])
def test_a_worker_that_is_killed_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, relax_every: int
) -> None:
    monkeypatch.chdir(tmp_path)
    write_programs(tmp_path, files, relax_every)
    with local_cluster() as cluster:
        report = judged_with(cluster, files // relax_every // 3, kill_one(cluster))
    assert len(report.files) == files
    assert not report.interrupted
    assert render_json(report) == render_json(run(["."], Config()))
    assert '"safe_when": "m <= 4"' in render_json(report)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["scheduler", "workers"])
def test_the_end_of_a_real_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(executors, "_PATIENCE_S", 2.0)
    write_programs(tmp_path, 40)
    with local_cluster() as cluster:
        ends = {
            "scheduler": lambda: cluster.sync(cluster.scheduler.close),
            "workers": lambda: cluster.scale(0),
        }
        report = judged_with(cluster, 8, ends[lost])
    reason = {"scheduler": "the Dask scheduler at ", "workers": "the Dask cluster at "}[lost]
    assert report.interrupted
    assert report.lost.startswith(reason)
    judged = [file for file in report.files if file.input.status == "checked"]
    left = [file for file in report.files if file.input.status == "failed"]
    assert len(judged) >= 8
    assert left
    assert len(judged) + len(left) == 40
    assert {file.input.reason for file in left} == {f"not analysed: {report.lost}"}
    own = {file.input.path: file for file in run(["."], Config()).files}
    assert all(file == own[file.input.path] for file in judged)


@pytest.mark.slow
def test_the_command_on_a_real_cluster(folder: Path) -> None:
    with local_cluster() as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        remote = report_of("--executor", f"dask://{address}")
    assert remote == report_of()
    assert '"safe_when": "m <= 8"' in remote


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
    assert done.returncode == 2, done.stderr
    assert "has had no worker for 1 seconds: 0 of 1 inputs judged, not analysed:\n  1.py\n" in done.stderr
