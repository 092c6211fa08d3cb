"""The instrument in every pass context. Importing this module imports TVM."""

from __future__ import annotations

import functools
import inspect
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import tvm

from relax_lint.instrument import MemoryLint, PassFinding
from relax_lint.judging.selection import known_config


@dataclass
class Found:
    """What was found while a test ran: findings, failures of the analysis as text, and seconds spent."""

    findings: list[PassFinding] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Judged:
    """Judges what is compiled while a test runs. A context entered inside another one has a linter of
    its own, and each thread has its own contexts.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._config = known_config(settings)
        self._instrument = _Instrument(self)
        self._local = threading.local()
        self._found = Found()
        self._is_on = False
        self._original: Callable[..., None] = tvm.transform.PassContext.__init__

    def install(self) -> None:
        """From here on every new pass context carries the instrument."""
        original, instrument = self._original, self._instrument
        signature = inspect.signature(original)

        @functools.wraps(original)
        def with_instrument(*args: Any, **kwargs: Any) -> None:
            bound = signature.bind(*args, **kwargs)
            given = bound.arguments.get("instruments")
            # Whoever hands over the instruments of the current context has it already. What is no list is
            # refused by TVM itself.
            if given is None or isinstance(given, (list, tuple)) or hasattr(given, "__getitem__"):
                others = list(given or ())
                if not any(_is_same(instrument, other) for other in others):
                    bound.arguments["instruments"] = [*others, instrument]
            original(*bound.args, **bound.kwargs)

        tvm.transform.PassContext.__init__ = with_instrument

    def uninstall(self) -> None:
        """New pass contexts are TVM's own again."""
        tvm.transform.PassContext.__init__ = self._original

    @contextmanager
    def test(self) -> Iterator[None]:
        """A context like the current one, with the instrument, in which a test runs."""
        current = tvm.transform.PassContext.current()
        context = tvm.transform.PassContext(
            opt_level=current.opt_level,
            required_pass=list(current.required_pass),
            disabled_pass=list(current.disabled_pass),
            instruments=list(current.instruments or ()),
            config=current.config,
        )
        self._found, self._is_on = Found(), True
        try:
            with context:
                yield
        finally:
            self._is_on = False
            self._lints.clear()

    def taken(self) -> Found:
        """What was found since the test began."""
        for lint in self._lints:
            self._take(lint)
        # The contexts are still open: what comes now belongs to nobody's report.
        self._is_on = False
        return self._found

    @property
    def _lints(self) -> list[Any]:
        """A linter for each open context of this thread, the innermost last."""
        if not hasattr(self._local, "lints"):
            self._local.lints = []
        lints: list[Any] = self._local.lints
        return lints

    def enter(self) -> None:
        """A context begins."""
        lint = MemoryLint(fail_on=None, config=self._config)
        self._lints.append(lint)
        self._guarded(lint.enter_pass_ctx)

    def leave(self) -> None:
        """The innermost context ends."""
        if self._lints:
            self._take(self._lints.pop())

    def before(self, module: Any, info: Any) -> None:
        """A pass is about to run."""
        if self._lints:
            self._guarded(self._lints[-1].run_before_pass, module, info)

    def after(self, module: Any, info: Any) -> None:
        """A pass has run."""
        if self._lints:
            self._guarded(self._lints[-1].run_after_pass, module, info)

    def _take(self, lint: Any) -> None:
        self._guarded(lint.exit_pass_ctx)
        if self._is_on:
            self._found.findings += lint.findings
            self._found.failures += [check.message for check in lint.failures]

    def _guarded(self, call: Callable[..., None], *args: Any) -> None:
        """A call of the linter, of which a test notices nothing: no warning and no error."""
        if not self._is_on:
            return
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call(*args)
        except Exception as error:
            self._found.failures.append(f"{type(error).__name__}: {error}")
        self._found.seconds += time.perf_counter() - started


def _is_same(one: Any, other: Any) -> bool:
    return bool(one.same_as(other))


@tvm.instrument.pass_instrument
class _Instrument:
    """Hands on to the linter of the innermost context."""

    def __init__(self, judged: Judged) -> None:
        self._judged = judged

    def enter_pass_ctx(self) -> None:
        """A context begins."""
        self._judged.enter()

    def exit_pass_ctx(self) -> None:
        """A context ends."""
        self._judged.leave()

    def run_before_pass(self, module: Any, info: Any) -> None:
        """A pass is about to run."""
        self._judged.before(module, info)

    def run_after_pass(self, module: Any, info: Any) -> None:
        """A pass has run."""
        self._judged.after(module, info)
