"""Results of earlier runs: when they are used, when not, and what may be wrong with the folder."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from relax_lint.results.check import Check
from relax_lint.results.location import Location
from relax_lint.results.report import FileResult, InputStatus
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.running.cache import Cache, default_folder
from relax_lint.running.messages import FileData
from relax_lint.running.outcome import Outcome, outcome_text, read_outcome
from relax_lint.running.runner import run
from relax_lint.settings.config import Config, with_options
from relax_lint.sources.ignore_comment import IgnoreComment

PROGRAM = """\
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        storage = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))
        alloc = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([m]), R.dtype("float32"))
        return alloc
""".replace("relax as R", "relax as R, tirx as T")
FILE = FileData(PROGRAM.encode(), "a.py", "python", True)
PLACE = Location("a.py", 1, 2, 3, 4)
OUTCOME = Outcome(
    FileResult(
        InputStatus("a.py", 1, "checked", notes=("said once",)),
        (
            Check(
                *("RLX101", "storage-overflow", Verdict.NEEDS_RUNTIME_CHECK, Severity.WARNING),
                *("too large", "a.py", "Module", "main"),
                location=PLACE,
                wrong={"m": 5},
            ),
        ),
        lines={1: "x = é"},
    ),
    (IgnoreComment(PLACE, None, ("RLX1",), "why", "", None),),
    ("`n <= 4`",),
    tvm_version="0.27.0",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def kept(folder: Path, config: Config | None = None, file: FileData = FILE) -> Outcome | None:
    return Cache(str(folder), config or Config()).get(file)


def keep(folder: Path, outcome: Outcome = OUTCOME, file: FileData = FILE) -> Cache:
    cache = Cache(str(folder), Config())
    cache.put(file, outcome)
    cache.close()
    return cache


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "v1").rglob("*") if path.is_file())


def test_an_outcome_survives_the_way() -> None:
    assert read_outcome(outcome_text(OUTCOME)) == OUTCOME


@pytest.mark.parametrize("text", ["", "[]", "null", '["x"]', outcome_text(OUTCOME)[:-9], "[" * 100_000])
def test_what_is_no_outcome_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_outcome(text)


def test_what_is_kept_is_found_again(folder: Path) -> None:
    assert kept(folder) is None
    assert keep(folder).problem is None
    assert kept(folder) == OUTCOME
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert (folder / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    "other",
    [
        replace(FILE, data=FILE.data + b"\n"),
        replace(FILE, path="b.py"),
        replace(FILE, kind="markdown"),
        replace(FILE, named=False),
    ],
)
def test_another_input_is_another_entry(folder: Path, other: FileData) -> None:
    keep(folder)
    assert kept(folder, file=other) is None


def test_a_name_of_a_file_that_ends_another_ones_key(folder: Path) -> None:
    # Both are named in one repository, and both texts are Python.
    keep(folder, file=replace(FILE, data=b"b.py\npython\nTrue\n" + FILE.data))
    longer = f"{FILE.path}\n{FILE.kind}\n{FILE.named}\nb.py"
    assert kept(folder, file=replace(FILE, path=longer)) is None


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"select": ["RLX1"]}, False),
        ({"page-size": 8192}, False),
        ({"assume": ["m <= 4"]}, False),
        ({"dialect": "old"}, False),
        ({"max-memory": "1 MiB"}, False),
        ({"jobs": 3}, True),
        ({"fail-on": "note"}, True),
        ({"severities": {"RLX1": "note"}}, True),
        ({"per-file-ignores": {"*": ["RLX1"]}}, True),
        ({"time-limit": 3}, True),
    ],
)
def test_the_configuration_counts_where_it_changes_the_result(
    folder: Path, options: dict[str, object], same: bool
) -> None:
    keep(folder)
    assert (kept(folder, with_options(Config(), options)) is not None) is same


def test_another_version_of_the_tool_or_of_tvm_is_another_entry(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(folder)
    from relax_lint.running import fingerprint
    from relax_lint.support import installed

    before = fingerprint.tool_fingerprint()
    known = installed.versions(fingerprint._DISTRIBUTIONS)
    assert known == tuple(map(importlib.metadata.version, fingerprint._DISTRIBUTIONS))
    for changed in range(len(known)):
        others = tuple(one + "1" * (number == changed) for number, one in enumerate(known))
        monkeypatch.setattr(fingerprint, "versions", lambda _, others=others: others)
        assert fingerprint.tool_fingerprint() != before
    assert kept(folder) is None


def test_the_text_of_a_rule_is_part_of_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from relax_lint.running import fingerprint

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(fingerprint, "rule_packages", lambda: ("my_rules", "my_single_rule"))
    (tmp_path / "my_rules" / "family").mkdir(parents=True)
    seen = set()
    for path, text in (
        ("my_rules/__init__.py", ""),
        ("my_rules/family/rule.py", "CODE = 1\n"),
        ("my_rules/family/rule.py", "CODE = 2\n"),
        ("my_single_rule.py", "CODE = 3\n"),
    ):
        (tmp_path / path).write_text(text)
        seen.add(fingerprint.tool_fingerprint())
    assert len(seen) == 4


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is the whole engine, written long ago."""
    from relax_lint.running import fingerprint

    file = tmp_path / "engine.py"
    file.write_text("LIMIT = 1\n")
    os.utime(file, (1e9, 1e9))
    monkeypatch.setattr(fingerprint, "_packages", lambda: [str(file)])
    # The time of the last change of a file's state cannot be set.
    monkeypatch.setattr(fingerprint, "_CLOCK_STEP_S", -1.0)
    return file


def remembered(folder: Path) -> list[Path]:
    return sorted((folder / "engines").glob("[!.]*"))


def test_the_contents_of_the_engine_are_remembered_and_not_read_again(
    folder: Path, engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from relax_lint.running.fingerprint import EngineFiles

    keep(folder)
    assert len(remembered(folder)) == 1
    monkeypatch.setattr(EngineFiles, "contents", lambda _: pytest.fail("read again"))
    assert kept(folder) == OUTCOME


def test_a_changed_engine_is_another_engine_whatever_its_time_and_size(folder: Path, engine: Path) -> None:
    keep(folder)
    before = engine.stat().st_ctime_ns
    while engine.stat().st_ctime_ns == before:
        engine.write_text("LIMIT = 2\n")
        os.utime(engine, (1e9, 1e9))
    assert kept(folder) is None
    replaced = engine.with_name("new")
    replaced.write_text("LIMIT = 1\n")
    os.utime(replaced, (1e9, 1e9))
    os.replace(replaced, engine)
    # Another file with the same contents: a new installation of the same version.
    assert kept(folder) == OUTCOME


def test_an_engine_that_was_written_just_now_is_not_remembered(
    folder: Path, engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from relax_lint.running import fingerprint

    monkeypatch.setattr(fingerprint, "_CLOCK_STEP_S", 3600.0)
    keep(folder)
    assert remembered(folder) == []
    assert kept(folder) == OUTCOME


@pytest.mark.parametrize("text", ["", "rubbish", "a\nb", "\n" + "0" * 64, "x" * 10_000])
def test_what_is_remembered_of_another_engine_is_not_used(folder: Path, engine: Path, text: str) -> None:
    keep(folder)
    (file,) = remembered(folder)
    right = file.read_text()
    file.write_text(text)
    assert kept(folder) == OUTCOME
    assert file.read_text() == right


def test_what_may_be_otherwise_another_time_is_not_kept(folder: Path) -> None:
    keep(folder, replace(OUTCOME, repeatable=False))
    assert kept(folder) is None


# To make all of them takes half a second, which every process that collects tests would spend.
HOSTILE: dict[str, Callable[[], bytes]] = {
    "large": lambda: b"x" * (33 << 20),
    "zeros": lambda: zlib.compress(b"[" + b"0," * (8 << 20) + b"0]"),
    "lists": lambda: zlib.compress(b"[" + b"[]," * (4 << 20) + b"0]"),
    "white space": lambda: zlib.compress(b" " * (100 << 20)),
    "nested": lambda: zlib.compress(b"[" * 1_000_000),
    "digits": lambda: zlib.compress(b"[" + b"9" * 1_000_000 + b"]"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_entry_that_would_become_huge_is_refused_before_it_is_decoded(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(folder)
    (entry,) = entries(folder)
    hostile = HOSTILE[name]()
    entry.write_bytes(hostile)
    decoded: list[int] = []
    loads = json.loads

    def watched(text: str) -> Any:
        decoded.append(len(text))
        return loads(text)

    monkeypatch.setattr(json, "loads", watched)
    tracemalloc.start()
    cache = Cache(str(folder), Config())
    assert cache.get(FILE) is None
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert cache.problem == f"a damaged entry of the cache in {folder} is not used"
    assert most < 200 << 20
    # What is short and nested or a number beyond all bounds is left to the decoder, which refuses it.
    assert decoded == ([len(zlib.decompress(hostile))] if name in ("nested", "digits") else [])


def test_places_that_no_text_has_and_keys_of_one_hash_are_refused() -> None:
    far = replace(OUTCOME, comments=(IgnoreComment(replace(PLACE, end_line=10**12), None, (), "", "", None),))
    with pytest.raises(ValueError, match="not a location in a text"):
        read_outcome(outcome_text(far))
    lines = {number * (2**61 - 1): "" for number in range(1, 100)}
    with pytest.raises(ValueError, match="not a key of 64 bits"):
        read_outcome(outcome_text(replace(OUTCOME, result=replace(OUTCOME.result, lines=lines))))


def test_an_entry_and_a_tag_that_are_no_files(folder: Path, tmp_path: Path) -> None:
    keep(folder)
    (entry,) = entries(folder)
    (tmp_path / "elsewhere").write_bytes(entry.read_bytes())
    entry.unlink()
    entry.symlink_to(tmp_path / "elsewhere")
    assert kept(folder) is None
    entry.unlink()
    os.mkfifo(entry)
    assert kept(folder) is None
    (folder / "CACHEDIR.TAG").unlink()
    os.mkfifo(folder / "CACHEDIR.TAG")
    assert (
        Cache(str(folder), Config()).problem
        == f"{folder} is not empty and not a cache of relax-lint: not used"
    )


@pytest.mark.parametrize("data", [b"", b"rubbish", None])
def test_a_damaged_entry_is_replaced_with_one_warning(folder: Path, data: bytes | None) -> None:
    keep(folder)
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-9] if data is None else data)
    cache = Cache(str(folder), Config())
    assert cache.get(FILE) is None
    assert cache.problem == f"a damaged entry of the cache in {folder} is not used"
    cache.put(FILE, OUTCOME)
    assert entry.read_bytes() == whole


def test_a_folder_of_somebody_else_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.tex").write_text("")
    cache = keep(folder)
    assert cache.problem == f"{folder} is not empty and not a cache of relax-lint: not used"
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


def test_a_place_that_is_no_folder_costs_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = keep(tmp_path / "file" / "cache")
    assert cache.problem is not None
    assert cache.problem.startswith("cannot ")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_can_be_read(folder: Path) -> None:
    keep(folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    cache = Cache(str(folder), Config())
    assert cache.get(FILE) == OUTCOME
    cache.put(replace(FILE, path="b.py"), OUTCOME)
    assert cache.problem == f"cannot write to the cache in {folder}: Permission denied"


def test_a_folder_that_cannot_be_written_costs_one_warning(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(folder)

    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    cache = Cache(str(folder), Config())
    assert cache.get(FILE) == OUTCOME
    for name in "bcd":
        cache.put(replace(FILE, path=name), OUTCOME)
    assert cache.problem == f"cannot write to the cache in {folder}: Permission denied"


def test_what_was_not_used_for_longest_goes_first(folder: Path) -> None:
    files = [replace(FILE, path=f"{number}.py") for number in range(8)]
    for age, file in enumerate(files):
        keep(folder, file=file)
        for entry in entries(folder):
            status = entry.stat()
            if status.st_mtime > 1e9:
                os.utime(entry, (1e8 - age, 1e8 - age))
    size = entries(folder)[0].stat().st_size
    # Using it makes it the youngest; what goes is the excess and a quarter of the room.
    assert kept(folder, file=files[7]) is not None
    cache = Cache(str(folder), Config(), max_bytes=size * 6)
    cache.put(replace(FILE, path="new.py"), OUTCOME)
    cache.close()
    assert sum(entry.stat().st_size for entry in entries(folder)) <= size * 6
    left = [file.path for file in files if kept(folder, file=file) is not None]
    assert left == ["0.py", "1.py", "7.py"]


def test_links_in_the_folder_are_not_followed(folder: Path, tmp_path: Path) -> None:
    keep(folder)
    (entry,) = entries(folder)
    (elsewhere := tmp_path / "elsewhere").mkdir()
    thesis = elsewhere / ("0" * 62)
    thesis.write_bytes(b"x" * 100_000)
    os.utime(thesis, (1e8, 1e8))
    (entry.parent.parent / ("00" if entry.parent.name != "00" else "01")).symlink_to(elsewhere)
    cache = Cache(str(folder), Config(), max_bytes=50_000)
    cache.put(replace(FILE, path="b.py"), OUTCOME)
    cache.close()
    assert thesis.exists()
    # The other entry may have come to lie in the same folder.
    shutil.rmtree(entry.parent)
    entry.parent.symlink_to(elsewhere)
    assert keep(folder).problem == f"cannot write to the cache in {folder}: it holds a link to another folder"
    assert list(elsewhere.iterdir()) == [thesis]


def test_many_runs_at_once(folder: Path) -> None:
    def work(number: int) -> None:
        for turn in range(20):
            cache = Cache(str(folder), Config(), max_bytes=4000)
            file = replace(FILE, path=f"{(number + turn) % 5}.py")
            found = cache.get(file)
            problems.append(cache.problem)
            outcomes.append(found)
            cache.put(file, OUTCOME)
            cache.close()
            problems.append(cache.problem)

    problems: list[str | None] = []
    outcomes: list[Outcome | None] = []
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(problems) == {None}
    assert [outcome for outcome in outcomes if outcome not in (None, OUTCOME)] == []


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELAX_LINT_CACHE_DIR", "/there")
    assert default_folder() == "/there"
    monkeypatch.delenv("RELAX_LINT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert default_folder() == "/xdg/relax-lint"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder().startswith(str(tmp_path))


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_second_run_says_the_same_and_loads_nothing_heavy(in_folder: Path) -> None:
    (in_folder / "model.py").write_text(PROGRAM + "# relax-lint: ignore[RLX102] -- of no use\nx = 1\n")
    (in_folder / "mention.md").write_text("tvm relax ir_module function\n")
    program = (
        "import sys; from relax_lint.running import pool as workers; from relax_lint.cli import main\n"
        "started = []; start = workers.start_worker\n"
        "workers.start_worker = lambda *a: started.append(1) or start(*a)\n"
        "code = main(['.', '--output-format', 'json', '--cache-dir', 'kept'])\n"
        "print(code, len(started), not {'tvm', 'sympy'} & set(sys.modules), file=sys.stderr)\n"
    )

    def call() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    cold, warm = call(), call()
    assert cold.stderr.split() == ["1", str(min(2, len(os.sched_getaffinity(0)))), "True"]
    assert warm.stderr.split() == ["1", "0", "True"]
    assert warm.stdout == cold.stdout
    assert '"RLX905"' in warm.stdout


def test_a_crash_is_tried_again(in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from relax_lint.running import working

    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "cli"))
    monkeypatch.setattr(working, "FUNCTION", "runner_tasks:analyse")
    Path("0.py").write_text("# tvm ir_module a crash b")
    Path("1.py").write_text("# tvm ir_module a b")
    config = Config(jobs=1, ignore=("RLX904",))
    for _ in range(2):
        report = run(["0.py", "1.py"], config, cache=Cache("kept", config))
        assert [file.input.functions for file in report.files] == [2, 2]
    assert len(entries(Path("kept"))) == 1
