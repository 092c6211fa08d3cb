"""Canaries: what a worker must not be able to do when code of somebody else runs in it. The gate plays no part
here; each deed is tried without the sandbox too, where that does no harm, so that a test can fail.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relax_lint.running import starting
from relax_lint.running.pool import Failed, FailureKind, Item, TaskFailure, WorkerPool
from relax_lint.running.runner import run
from relax_lint.running.sandbox import entering, folders, gaps
from relax_lint.running.sandbox.gaps import GAPS, SandboxError, known_gaps
from relax_lint.running.starting import Needs
from relax_lint.settings.config import Config
from relax_lint.support.errors import RunError
from tests.sandbox.canary_tasks import DEEDS

TASKS = "canary_tasks"
MAIN = "int answer(void) { return 42; }\n"

# Without the sandbox these would end the worker, reach every process, or need rights or a kernel that not
# everybody has.
NOT_WITHOUT = {
    *("become-a-program", "trace-the-parent", "signal-to-all", "leave-the-session", "slow-down-the-parent"),
    *("memory-of-the-parent", "io-uring", "user-fault", "namespace", "bpf", "performance-counters", "keys"),
    *("shared-memory", "message-queue", "link-into-the-own-folder"),
}


def _pool(mode: str) -> WorkerPool:
    return WorkerPool(1, time_limit_s=60, memory_limit_bytes=None, sandbox=mode)


def _answers(task: tuple[Any, ...], mode: str, needs: Needs | None = None) -> Any:
    """What a task gives in a worker of its own, or how it failed."""
    with _pool(mode) as workers:
        return _answers_of(workers, task, needs)


def _answers_of(workers: WorkerPool, task: tuple[Any, ...], needs: Needs | None = None) -> Any:
    function, *arguments = task
    workers.submit(f"{TASKS}:{function}", *arguments, needs=needs or Needs())
    values, failure = [], None
    for event in workers.events():
        if isinstance(event, Item):
            values.append(event.value)
        elif isinstance(event, Failed):
            failure = event.failure
    return values if failure is None else failure


def _missing() -> set[str]:
    with WorkerPool(1, time_limit_s=60, memory_limit_bytes=None) as workers:
        workers.submit("json:loads", "[]")
        for _ in workers.events():
            pass
        return workers.gaps


MISSING = _missing()
confined = pytest.mark.skipif(bool(MISSING), reason="; ".join(GAPS[gap] for gap in MISSING))


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Things that could be harmed, and where they are."""
    folder = tmp_path_factory.mktemp("canary")
    home, linted = folder / "home", folder / "linted"
    for place in (home, linted):
        place.mkdir()
        (place / "secret").write_text("a secret")
    for name in ("remove", "rename", "cut"):
        (linted / name).write_text("text")
    (linted / "link").symlink_to(home / "secret")
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as abstract:
        if sys.platform == "linux":
            abstract.bind(f"\0relax-lint-canary-{os.getpid()}")
            abstract.listen(64)
        yield {
            "home": str(home),
            "linted": str(linted),
            "scratch": str(folder.parent / "scratch"),
            "parent": os.getpid(),
            "port": listener.getsockname()[1],
            "abstract": f"relax-lint-canary-{os.getpid()}",
            "library": str(_library(linted)),
        }


def _library(folder: Path) -> Path:
    """A shared library in a folder: made here, else a copy of one of Python's own."""
    library, source = folder / "library.so", folder / "library.c"
    compiler = shutil.which("cc")
    if compiler is not None:
        source.write_text(MAIN)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        return library
    import _ctypes

    if not getattr(_ctypes, "__file__", None):
        pytest.skip("neither a C compiler nor a library to copy")
    shutil.copy(_ctypes.__file__, library)
    return library


@pytest.fixture(scope="module")
def confined_worker() -> Iterator[WorkerPool]:
    """One for all deeds, none of which is done there; it is replaced when one of them ends it."""
    with _pool("require") as workers:
        yield workers


@pytest.fixture(scope="module")
def free_worker() -> Iterator[WorkerPool]:
    """One for all deeds that leave a worker as it is."""
    with _pool("off") as workers:
        yield workers


@confined
@pytest.mark.parametrize("name", DEEDS)
def test_in_the_sandbox_it_fails(name: str, facts: dict[str, Any], confined_worker: WorkerPool) -> None:
    ((done, why),) = _answers_of(confined_worker, ("attempt", name, facts))
    assert not done
    assert why


@confined
@pytest.mark.parametrize("name", sorted(DEEDS.keys() - NOT_WITHOUT))
def test_without_the_sandbox_it_works(name: str, facts: dict[str, Any], free_worker: WorkerPool) -> None:
    linted = Path(facts["linted"])
    for file in ("remove", "rename", "cut"):
        (linted / file).write_text("text")
    ((done, why),) = _answers_of(free_worker, ("attempt", name, facts))
    assert done, why
    for made in ("new", "another", "renamed"):
        (linted / made).unlink(missing_ok=True)
    Path(facts["scratch"]).unlink(missing_ok=True)


@confined
def test_what_a_worker_needs_works() -> None:
    assert _answers(("load_tvm_and_work",), "require") == [[True, "n**2 + 2*n + 1", ["scratch"]]]


ENCODINGS = ("euc_jp", "big5", "gb18030", "euc_kr", "iso2022_jp", "utf-8")


@pytest.fixture(scope="module")
def unreadable(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files that could not be read of one in each encoding, behind one that confines the worker of all."""
    folder = tmp_path_factory.mktemp("encodings")
    unit = "from tvm.script import ir as I\n@I.ir_module\nclass M:\n    pass\n"
    (folder / "1.py").write_text(unit)
    for encoding in ENCODINGS:
        text = f"# coding: {encoding}\n{unit}NAME = '\\N{{BULLET}}'\nOTHER = '\u4e2d'\n"
        (folder / f"{encoding}.py").write_bytes(text.encode(encoding))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        names = ["1.py", *(f"{encoding}.py" for encoding in ENCODINGS)]
        report = run(names, Config(jobs=1, sandbox="require"))
    assert len(report.files) == len(names)
    return {check.path for check in report.checks if check.rule == "RLX901"}


@confined
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_text_needs_a_library_that_comes_too_late(encoding: str, unreadable: set[str]) -> None:
    assert f"{encoding}.py" not in unreadable
    assert "1.py" not in unreadable


@confined
def test_its_own_signal_ends_a_worker() -> None:
    failure = _answers(("abort",), "require")
    assert isinstance(failure, TaskFailure)
    assert failure.message == "was ended by SIGABRT"


@confined
def test_a_folder_that_a_task_needs_can_be_read_and_not_written(facts: dict[str, Any]) -> None:
    needs = Needs(folder=facts["linted"])
    ((read, why),) = _answers(("attempt", "read-in-the-linted-folder", facts), "require", needs)
    assert read, why
    for name in ("read-by-a-link", "write-in-the-linted-folder", "load-a-library-of-the-linted-folder"):
        ((done, _),) = _answers(("attempt", name, facts), "require", needs)
        assert not done


@confined
def test_a_task_that_compiles_may_have_executable_memory_and_no_library(facts: dict[str, Any]) -> None:
    needs = Needs(executable=True)
    assert _answers(("attempt", "executable-memory", facts), "require", needs) == [[True, ""]]
    ((done, _),) = _answers(("attempt", "load-a-library-of-the-linted-folder", facts), "require", needs)
    assert not done


@confined
def test_workers_are_replaced_where_needs_differ(facts: dict[str, Any]) -> None:
    folders = [None, facts["linted"], facts["linted"], None]
    with WorkerPool(1, time_limit_s=60, memory_limit_bytes=None, sandbox="require") as workers:
        for folder in folders:
            deed = "read-in-the-linted-folder"
            workers.submit(f"{TASKS}:attempt", deed, facts, needs=Needs(folder))
        done = [event.value[0] for event in workers.events() if isinstance(event, Item)]
    assert done == [folder is not None for folder in folders]


def test_no_link_in_the_import_path_lets_a_worker_read_more(tmp_path: Path) -> None:
    (tmp_path / "real-1.0.dist-info").mkdir()
    (tmp_path / "evil-1.0.dist-info").symlink_to("/")
    (tmp_path / "evil.egg-info").symlink_to("/etc/passwd")
    assert [*folders._metadata(str(tmp_path))] == [str(tmp_path / "real-1.0.dist-info")]


def test_no_temporary_folder_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert _answers(("load_tvm_and_work",), "auto")
    assert list(tmp_path.iterdir()) == []


def test_the_current_folder_is_not_imported_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "planted_beside.py").write_text("def deed():\n    yield 'ran'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for mode in ("off", "auto"):
        with WorkerPool(1, time_limit_s=60, memory_limit_bytes=None, sandbox=mode) as workers:
            workers.submit("planted_beside:deed")
            (event,) = workers.events()
        assert isinstance(event, Failed)
        assert event.failure.kind is FailureKind.EXCEPTION
        assert "No module named 'planted_beside'" in event.failure.message


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers on a machine without a filter of system calls."""
    boot = starting._BOOT.replace(
        "import relax_lint",
        "from relax_lint.running.sandbox import entering as e; e.enter = lambda wanted: ('seccomp',);"
        " import relax_lint",
        1,
    )
    monkeypatch.setattr(starting, "_BOOT", boot)


@pytest.mark.usefixtures("lacking")
def test_what_is_lacking_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("1.py", "2.py"):
        Path(name).write_text("import tvm\n@ir_module\nclass M:\n    pass\n")
    report = run(["1.py", "2.py"], Config(jobs=2))
    assert [note for note in report.notes if "sandbox" in note] == [gaps.note({"seccomp"})]
    with pytest.raises(RunError, match=r"`--sandbox require`: .*seccomp"):
        run(["1.py", "2.py"], Config(sandbox="require"))


@pytest.mark.usefixtures("lacking")
def test_without_all_of_a_required_sandbox_no_task_begins(tmp_path: Path) -> None:
    with WorkerPool(1, time_limit_s=60, memory_limit_bytes=None, sandbox="require") as workers:
        workers.submit(f"{TASKS}:attempt", "write-in-the-linted-folder", {"linted": str(tmp_path)})
        with pytest.raises(SandboxError, match="seccomp"):
            list(workers.events())
    assert list(tmp_path.iterdir()) == []


def test_a_worker_has_no_words_of_its_own() -> None:
    assert known_gaps(["system"]) == ("system",)
    for report in (["all is well"], "system", None, [1], {"system": 1}):
        with pytest.raises(ValueError, match="gaps"):
            known_gaps(report)


@confined
def test_bytecode_is_kept_before_nobody_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fresh_module.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(entering, "_COMPILED_ONCE", ("fresh_module",))
    monkeypatch.setattr(entering, "_LOADED_WITH_TVM", ("fresh_module",))
    entering._keep_bytecode()
    assert list(tmp_path.glob("__pycache__/fresh_module.*.pyc"))
    assert "fresh_module" not in sys.modules
