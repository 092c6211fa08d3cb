"""What a run makes of failing units: one finding each, and everything else goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from relax_lint.results.report import FileResult
from relax_lint.running import working
from relax_lint.running.runner import run
from relax_lint.settings.config import Config
from relax_lint.support.errors import RunError

# Their workers do not do what those of other tests do.
pytestmark = pytest.mark.cold


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(working, "FUNCTION", "runner_tasks:analyse")
    monkeypatch.setattr(working, "LOADING", "runner_tasks:load")
    monkeypatch.chdir(tmp_path)


def judge(*contents: str, config: Config | None = None, debug: bool = False) -> tuple[FileResult, ...]:
    """The results for files of units; the first words make them look like Relax."""
    names = [f"{number}.py" for number in range(len(contents))]
    for name, content in zip(names, contents, strict=True):
        Path(name).write_text(f"# tvm ir_module {content}")
    return run(names, config or Config(jobs=1), debug=debug).files


def messages(result: FileResult) -> list[str]:
    assert {check.rule for check in result.checks} <= {"RLX904"}
    return [check.message for check in result.checks]


def test_a_crash_costs_one_unit() -> None:
    broken, other = judge("a crash b crash c", "d")
    assert broken.input.notes == ("a", "b", "c")
    assert broken.input.status == "checked"
    assert messages(broken) == ["the analysis of `crash` crashed: the process was ended by SIGABRT"] * 2
    assert broken.checks[0].notes == ("last words: !!! TVM says goodbye",)
    assert broken.checks[0].location is not None
    assert broken.lines == {1: "text"}
    assert other.input.notes == ("d",)


def test_exceptions_and_hangs_have_their_own_words() -> None:
    (result,) = judge("raise hang a", config=Config(jobs=1, time_limit=0.8))
    assert messages(result) == [
        "the analysis of `raise` failed: ValueError: no such type",
        "the analysis of `hang` ran for more than 0.8 seconds",
    ]
    assert result.input.notes == ("a",)


def test_the_traceback_is_for_debugging() -> None:
    ((check,), (debugged,)) = (judge("raise")[0].checks, judge("raise", debug=True)[0].checks)
    assert not any("runner_tasks" in note for note in check.notes)
    assert any("runner_tasks" in note for note in debugged.notes)


def test_a_crash_after_other_work_gets_another_try(tmp_path: Path) -> None:
    # In its sandbox a worker leaves no note.
    config = Config(jobs=1, sandbox="off")
    (result,) = judge(f"a crash-once={tmp_path / 'note'} b", config=config)
    assert messages(result) == []
    assert len(result.input.notes) == 3


def test_a_crash_before_the_units_are_known() -> None:
    result, other = judge("early-crash", "a")
    assert messages(result) == ["the analysis of this input crashed: the process was ended by SIGABRT"]
    assert (result.input.status, result.input.functions) == ("failed", 0)
    assert other.input.notes == ("a",)


def test_a_wrong_answer_is_a_failure_of_its_unit() -> None:
    (result,) = judge("a lie b")
    assert messages(result) == [
        "the analysis of `lie` crashed: the process returned an invalid response: not a list: 'everything is fine'"
    ]
    assert result.input.notes == ("a", "b")


@pytest.mark.parametrize("word", ["chatter", "find-again", "load-again", "give-up", "new-rule"])
def test_an_answer_that_cannot_come_ends_its_worker_and_nothing_else(word: str) -> None:
    # Each answer brings a new time limit: most of these would go on for ever.
    result, other = judge(f"a {word} b", "c")
    (message,) = messages(result)
    assert message.startswith(f"the analysis of `{word}` crashed: the process returned an invalid response: ")
    assert (result.input.notes, other.input.notes) == (("a", "b"), ("c",))


def test_no_more_units_are_judged_than_were_found() -> None:
    result, other = judge("judge-on", "c")
    (message,) = messages(result)
    assert message.endswith("out of order")
    assert (result.input.functions, other.input.notes) == (1, ("c",))


def test_without_tvm_there_is_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "LOADING", "runner_tasks:load_nothing")
    with pytest.raises(RunError, match=r"TVM cannot be loaded: ImportError: libtvm.so: cannot open"):
        judge("no-tvm")


@pytest.mark.parametrize(
    ("word", "how"),
    [("killed-loading", "was ended by SIGKILL"), ("crash-loading", "was ended by SIGABRT")],
)
def test_a_worker_that_dies_while_it_loads_tvm_costs_one_unit(word: str, how: str) -> None:
    result, other = judge(f"{word} a", "b")
    assert messages(result) == [
        f"the analysis of `{word}` crashed: the process {how}",
        f"the analysis of `a` crashed: the process {how}",
    ]
    assert result.input.status == "failed"
    assert other.input.notes == ("b",)


def test_a_load_of_tvm_that_fails_with_one_input_only_is_no_error_of_the_run() -> None:
    result, other = judge("no-memory-for-tvm", "b")
    assert messages(result) == ["the analysis of `no-memory-for-tvm` needed more than 4,096 MiB of memory"]
    assert other.input.notes == ("b",)


def test_results_keep_the_order_of_the_inputs() -> None:
    results = judge("hang", "a", "b", "c", config=Config(jobs=2, time_limit=0.8))
    assert [result.input.path for result in results] == ["0.py", "1.py", "2.py", "3.py"]
    assert [result.input.functions for result in results] == [0, 1, 1, 1]


def test_a_file_above_the_configured_size_is_refused() -> None:
    (result,) = judge("a", config=Config(max_file_size=10))
    assert [check.message for check in result.checks] == ["cannot be read: larger than 10 bytes"]
