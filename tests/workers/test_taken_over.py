"""Whatever a worker that was taken over says or leaves behind: its task fails, the others and the pool do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from relax_lint.running import answers
from relax_lint.running.leftovers import remove_folder
from relax_lint.running.pool import Event, Failed, FailureKind, Finished, Item, WorkerPool

SAYS = "taken_over:say"
NO_ANSWER = "returned an invalid response"


def events_of(*texts: str) -> list[Event]:
    """What the pool tells of tasks that say something, and of an honest one after them."""
    with WorkerPool(1, time_limit_s=20, memory_limit_bytes=None) as workers:
        for text in texts:
            workers.submit(SAYS, text)
        workers.submit("worker_tasks:double", 21)
        return list(workers.events())


NONE_AT_ALL = {
    "no list": '"ab"',
    "a mapping": '{"item": 1, "b": 2}',
    "another word": '["done", null]',
    "no word": "[[], 1]",
    "a word that cannot be a key": "[{}, 1]",
    "an exception of no form": '["exception", 5]',
    "an exception of numbers": '["exception", [false, 5, 5]]',
    "an exception with a number for its traceback": '["exception", [true, "x", 5]]',
    "an exception with lists for its traceback": '["exception", [false, "x", [[1]]]]',
    "an exception with a text for its traceback": '["exception", [false, "x", "y"]]',
    "an end with a value": '["finished", 1]',
    "another word about the sandbox": '["sandbox", []]',
    "a number without end": f'["item", {"9" * 5000}]',
    "depth": "[" * 100_000,
    "nothing": "",
}


@pytest.mark.parametrize("text", NONE_AT_ALL.values(), ids=NONE_AT_ALL)
def test_what_is_no_answer_ends_the_task(text: str) -> None:
    first, *others = events_of(f"{text}\n")
    assert isinstance(first, Failed)
    assert (first.failure.kind, first.failure.message) == (FailureKind.CRASH, NO_ANSWER)
    assert others == [Item(1, 42), Finished(1)]


@pytest.mark.parametrize("rest", ['["item", 1]\n', '["finished", null]\n', '["sandbox", []]\n', '["item'])
def test_what_is_said_after_the_end_is_nobodys_answer(rest: str) -> None:
    assert events_of(f'["finished", null]\n{rest}') == [Finished(0), Item(1, 42), Finished(1)]


def test_all_answers_about_a_task_are_limited_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relax_lint.running.pool.MAX_TASK_BYTES", 1000)
    failure = events_of('["item", 1]\n' * 200)[-3]
    assert isinstance(failure, Failed)
    assert failure.failure.kind is FailureKind.MEMORY
    assert answers.MAX_TASK_BYTES == 256 << 20


def test_a_task_can_be_abandoned() -> None:
    with WorkerPool(1, time_limit_s=20, memory_limit_bytes=None) as workers:
        endless = workers.submit("worker_tasks:count", sys.maxsize)
        workers.submit("worker_tasks:double", 21)
        others = []
        for event in workers.events():
            if event.task == endless:
                workers.abandon(endless)
            else:
                others.append(event)
    assert others == [Item(1, 42), Finished(1)]


@pytest.mark.parametrize("task", [("build_a_tower", 3000), ("lock_a_folder",)])
def test_nothing_is_left_of_a_hostile_folder(
    task: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    function, *arguments = task
    with WorkerPool(1, time_limit_s=60, memory_limit_bytes=None) as workers:
        workers.submit(f"taken_over:{function}", *arguments)
        first, *_ = workers.events()
        assert isinstance(first, Item)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_others_cannot_list_goes_for_its_owner(tmp_path: Path) -> None:
    # The superuser may list everything: another user has to try.
    tmp_path.chmod(0o755)
    program = (
        "import os, tempfile\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "from relax_lint.running.leftovers import remove_folder\n"
        "folder = tempfile.mkdtemp()\n"
        "os.makedirs(f'{folder}/a/b/c')\n"
        "open(f'{folder}/a/b/file', 'w').close()\n"
        "for name, mode in (('a/b/c', 0), ('a/b', 0o300), ('a', 0o100)): os.chmod(f'{folder}/{name}', mode)\n"
        "remove_folder(folder)\n"
        "print(os.path.exists(folder))\n"
    )
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    if "PermissionError" in done.stderr or "No module" in done.stderr:
        pytest.skip("another user cannot read this installation")
    assert done.stdout == "False\n", done.stderr


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("text")
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    for place in (folder, folder / "inner"):
        (place / "link").symlink_to(kept)
    remove_folder(str(folder))
    assert not folder.exists()
    assert (kept / "file").read_text() == "text"
    # A link in the place of the folder is not entered either.
    folder.symlink_to(kept)
    remove_folder(str(folder))
    assert (kept / "file").read_text() == "text"
