"""One instrument in contexts inside contexts, in threads, and asked by somebody who does not wait."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import tvm

import relax_lint
from relax_lint import instrument
from tests.api.programs import FINE, OVERFLOW, parsed

Introduced = tuple[str, "str | None"]


def leaving(name: str, text: str | None = None, before: Callable[[], object] = lambda: None) -> Any:
    """A pass that leaves the module of a text, or the one that it gets, after something else was done."""
    made = None if text is None else parsed(text)

    @tvm.transform.module_pass(opt_level=0, name=name)
    def step(given: Any, _context: Any) -> Any:
        before()
        return given if made is None else made

    return step


def run(lint: Any, given: str, *passes: Any) -> None:
    with tvm.transform.PassContext(instruments=[lint]):
        tvm.transform.Sequential([*passes])(parsed(given))


def introduced(lint: Any) -> list[Introduced]:
    return [(found.check.rule, found.introduced_by) for found in lint.findings]


@pytest.mark.parametrize("passes", [None, "all"])
@pytest.mark.parametrize("inside", [FINE, OVERFLOW])
@pytest.mark.parametrize(
    ("given", "steps", "expected"),
    [
        (FINE, ("Shrink", "Nest", "Keep"), ("RLX101", "Shrink")),
        (FINE, ("Nest", "Shrink", "Keep"), ("RLX101", "Shrink")),
        (OVERFLOW, ("Nest", "Keep"), ("RLX101", None)),
        (OVERFLOW, ("Keep", "Nest"), ("RLX101", None)),
        (FINE, ("Nest", "Keep"), None),
    ],
)
def test_a_pass_that_compiles_something_else_on_the_way(
    passes: Any, inside: str, given: str, steps: tuple[str, ...], expected: Introduced | None
) -> None:
    lint = relax_lint.MemoryLint(fail_on=None, passes=passes)
    made = {
        "Shrink": leaving("Shrink", OVERFLOW),
        "Keep": leaving("Keep"),
        "Nest": leaving("Nest", before=lambda: run(lint, FINE, leaving("Inner", inside))),
    }
    run(lint, given, *(made[step] for step in steps))
    inner = [("RLX101", "Inner")] if inside == OVERFLOW else []
    assert Counter(introduced(lint)) == Counter([*inner, *([expected] if expected is not None else [])])
    assert all(found.present for found in lint.findings)


def test_a_context_within_does_not_say_what_has_not_run_yet(recwarn: pytest.WarningsRecorder) -> None:
    lint = relax_lint.MemoryLint(fail_on=None, passes=("Last",))
    nest = leaving("Nest", before=lambda: run(lint, FINE, leaving("Inner")))
    run(lint, FINE, nest, leaving("Last"))
    assert [str(one.message) for one in recwarn if "no pass" in str(one.message)] == []
    run(relax_lint.MemoryLint(fail_on=None, passes=("Last",)), FINE, nest)
    assert [str(one.message) for one in recwarn if "no pass `Last`" in str(one.message)]


def test_who_is_interrupted_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lint = relax_lint.MemoryLint(fail_on=None)
    run(lint, FINE, leaving("Other", FINE), leaving("Shrink", OVERFLOW), leaving("Again", OVERFLOW))

    def interrupted(*_arguments: Any, **_named: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(instrument, "check_module", interrupted)
        with pytest.raises(KeyboardInterrupt):
            lint.text()
    assert introduced(lint) == [("RLX101", "Shrink")]


def test_threads_have_contexts_of_their_own() -> None:
    lint = relax_lint.MemoryLint(fail_on=None)
    steps = threading.Barrier(2, timeout=60)
    failed: list[BaseException] = []
    given = parsed(FINE)
    passes = {
        name: [
            leaving(f"Given{name}", before=steps.wait),
            leaving(f"Shrink{name}", OVERFLOW),
            leaving(f"Keep{name}", before=steps.wait),
        ]
        for name in "AB"
    }

    def work(name: str) -> None:
        try:
            with tvm.transform.PassContext(instruments=[lint]):
                tvm.transform.Sequential(passes[name])(given)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "AB"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(introduced(lint)) == [("RLX101", "ShrinkA"), ("RLX101", "ShrinkB")]
