"""A pytest plugin: every pass context of every test judges what TVM compiles.

    pytest --relax-lint=warn

Nothing happens without the option (or `relax_lint = warn` in the configuration of pytest): neither TVM nor
the linter is imported.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

MODES = ("off", "warn", "error")

_JUDGED = pytest.StashKey[Any]()
_COLLECTED = pytest.StashKey[Any]()

# A report crosses from a worker of xdist to its controller with its attributes.
_ATTRIBUTE = "relax_lint"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, and the same keys of the configuration of pytest."""
    group = parser.getgroup("relax-lint", "memory safety of what TVM compiles")
    group.addoption(
        "--relax-lint",
        nargs="?",
        const="warn",
        choices=MODES,
        help="judge every module that a test compiles: `warn` reports, `error` fails the test",
    )
    group.addoption(
        "--relax-lint-json", metavar="PATH", help="write the findings of all tests to a JSON file"
    )
    parser.addini("relax_lint", "what --relax-lint is without the option: off, warn or error", default="off")
    parser.addini("relax_lint_fail_on", "the severity from which `error` fails a test", default="warning")
    parser.addini("relax_lint_select", "the only rules that are judged", type="args", default=[])
    parser.addini("relax_lint_ignore", "rules that are not judged", type="args", default=[])
    parser.addini(
        "relax_lint_introduced",
        "leave out what was in a module before the first pass",
        type="bool",
        default=False,
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker, and where findings are collected: in the controller of xdist, else here."""
    config.addinivalue_line(
        "markers",
        "relax_lint(expect=[...], skip=False): codes of findings that a test has; whether it is not judged",
    )
    mode = _mode(config)
    if mode == "off":
        return
    from relax_lint.pytest_plugin.summary import Summary

    if not _is_worker(config):
        config.stash[_COLLECTED] = Summary(mode)
        config.pluginmanager.register(_Collector(config.stash[_COLLECTED]), "relax_lint.collector")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """From here on every new pass context carries the instrument. The controller of xdist runs no tests."""
    config = session.config
    if _mode(config) == "off" or (_distributes(config) and not _is_worker(config)):
        return
    from relax_lint.api import as_severity
    from relax_lint.pytest_plugin.contexts import Judged

    ini = config.getini
    options = {"select": ini("relax_lint_select"), "ignore": ini("relax_lint_ignore")}
    try:
        as_severity(ini("relax_lint_fail_on"))
        judged = Judged({key: value for key, value in options.items() if value})
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    judged.install()
    config.stash[_JUDGED] = judged


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The pass contexts are TVM's own again; the JSON file is written."""
    config = session.config
    if _JUDGED in config.stash:
        config.stash[_JUDGED].uninstall()
    path = config.getoption("relax_lint_json")
    if _COLLECTED in config.stash and path is not None:
        config.stash[_COLLECTED].write(path)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A pass context of its own around the fixtures and the body of each test."""
    if _JUDGED not in item.config.stash or _marked(item).skip:
        return (yield)
    with item.config.stash[_JUDGED].test():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """After the body: what was found is put beside its output, and in `error` fails a test that passed."""
    judged = item.config.stash.get(_JUDGED, None)
    if judged is None or _marked(item).skip:
        return (yield)
    try:
        yield
    except BaseException:
        _close(item, judged)
        raise
    record = _close(item, judged)
    if _mode(item.config) == "error" and record.fails:
        pytest.fail(record.text, pytrace=False)


def _close(item: pytest.Item, judged: Any) -> Any:
    """What was found in a test so far, as the report will hold it."""
    from relax_lint.pytest_plugin.record import TestRecord

    config = item.config
    record = TestRecord.of(
        item.nodeid,
        judged.taken(),
        expected=_marked(item).expect,
        fail_on=config.getini("relax_lint_fail_on"),
        only_introduced=config.getini("relax_lint_introduced"),
    )
    if record.text:
        item.add_report_section("call", "relax-lint", record.text)
    item.stash[_JUDGED] = record
    return record


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of a test carries its findings."""
    report = yield
    record = item.stash.get(_JUDGED, None)
    if call.when == "call" and record is not None:
        setattr(report, _ATTRIBUTE, record.data(report.outcome))
    return report


class _Collector:
    """Takes what reports carry, in the process that prints the summary."""

    def __init__(self, summary: Any) -> None:
        self._summary = summary

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has ended, here or in a worker."""
        data = getattr(report, _ATTRIBUTE, None)
        if data is not None:
            self._summary.add(data)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """How many findings each pass introduced, and where."""
        terminalreporter.section("relax-lint")
        for line in self._summary.lines():
            terminalreporter.line(line)


class _Marked:
    """What the markers of a test say."""

    def __init__(self, item: pytest.Item) -> None:
        self.expect: tuple[str, ...] = ()
        self.skip = False
        for marker in item.iter_markers("relax_lint"):
            expect = marker.kwargs.get("expect", ())
            self.expect += (expect,) if isinstance(expect, str) else tuple(expect)
            self.skip = self.skip or bool(marker.kwargs.get("skip", False))


def _marked(item: pytest.Item) -> _Marked:
    return _Marked(item)


def _mode(config: pytest.Config) -> str:
    given = config.getoption("relax_lint")
    mode = str(config.getini("relax_lint") if given is None else given)
    if mode not in MODES:
        raise pytest.UsageError(f"`relax_lint` is one of {', '.join(MODES)}, not {mode!r}")
    return mode


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _distributes(config: pytest.Config) -> bool:
    return bool(config.getoption("dist", "no") != "no" and config.getoption("tx", None))
