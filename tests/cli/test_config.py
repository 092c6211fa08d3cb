"""The configuration: where it is found, what it says, what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from relax_lint.results.verdict import Severity
from relax_lint.settings.config import Config, ConfigError, load_config, with_options
from relax_lint.settings.pyproject import candidates
from relax_lint.settings.trust import loosened, untrusted
from relax_lint.settings.values import READERS

QUOTED = '."a"'


def write(folder: Path, text: str, name: str = "pyproject.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def test_every_key(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        [tool.relax-lint]
        select = ["RLX1"]
        ignore = ["RLX105"]
        allocators = ["pooled"]
        page-size = 65536
        trust-declared-bounds = false
        max-extent = 1024
        fail-on = "note"
        jobs = 1
        sandbox = "require"
        time-limit = 1.5
        memory-limit = "2 GiB"
        exclude = ["third_party/"]
        max-file-size = 4096
        target = "cuda"
        devices = 2
        dialect = "old"
        baseline = "accepted.json"
        cache = false
        cache-dir = "kept"
        assume = ["n <= 4096", "n % 8 == 0 and m < n"]

        [tool.relax-lint.per-file-ignores]
        "tests/*" = ["RLX2", "RLX101"]

        [tool.relax-lint.severities]
        RLX101 = "error"

        [tool.relax-lint.assume-in]
        main = ["k > 0"]
        Module.main = ["j > 0"]

        [tool.relax-lint.max-memory]
        global = "512 MiB"
        """,
    )
    assert load_config(folder=str(tmp_path)) == Config(
        select=("RLX1",),
        ignore=("RLX105",),
        allocators=("pooled",),
        page_size=65536,
        trust_declared_bounds=False,
        max_extent=1024,
        fail_on=Severity.NOTE,
        jobs=1,
        sandbox="require",
        time_limit=1.5,
        memory_limit=2 << 30,
        exclude=("third_party/",),
        max_file_size=4096,
        target="cuda",
        devices=2,
        dialect="old",
        baseline=str(tmp_path / "accepted.json"),
        cache=False,
        cache_dir=str(tmp_path / "kept"),
        assume=("n <= 4096", "n % 8 == 0 and m < n"),
        per_file_ignores=(("tests/*", ("RLX2", "RLX101")),),
        severities=(("RLX101", Severity.ERROR),),
        assume_in=(("main", ("k > 0",)), ("Module.main", ("j > 0",))),
        max_memory=(("global", 512 << 20),),
    )


def test_the_page_lists_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == sorted(READERS)


def test_what_is_shown_on_the_page_is_accepted(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL):
        assert load_config(str(write(tmp_path, block))) != Config()


def test_the_nearest_file_with_a_table_counts(tmp_path: Path) -> None:
    write(tmp_path, "[tool.relax-lint]\npage-size = 1\n")
    write(tmp_path / "a", "[tool.relax-lint]\npage-size = 2\n")
    write(tmp_path / "a" / "b", '[project]\ndependencies = ["relax-lint"]\n[tool.other]\nrelax-lint.x = 1\n')
    assert load_config(folder=str(tmp_path / "a" / "b")).page_size == 2


@pytest.mark.parametrize(
    "text",
    ["[tool.relax-lint]\ndevices = 3", '[tool."relax-lint"]\ndevices = 3', "[tool]\nrelax-lint.devices = 3",
     "tool.relax-lint.devices = 3", "[tool]\n'relax-lint' = {devices = 3}", "[ tool . relax-lint ]\ndevices = 3"],
)  # fmt: skip
def test_every_spelling_of_the_table_is_seen(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    assert load_config(folder=str(tmp_path)).devices == 3


def test_a_mere_dependency_is_not_worth_reading(tmp_path: Path) -> None:
    write(tmp_path, '[project]\ndependencies = ["relax-lint>=0.1", "relax-lint == 0.1"]\n')
    assert str(tmp_path / "pyproject.toml") not in list(candidates(str(tmp_path)))


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_config(folder=str(tmp_path)) == Config()


def test_a_named_file_must_have_the_table(tmp_path: Path) -> None:
    path = write(tmp_path, "[tool.other]\n", name="lint.toml")
    with pytest.raises(ConfigError, match=r"lint.toml: there is no table \[tool.relax-lint\]"):
        load_config(str(path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("page-sise = 1", "unknown key `page-sise`; did you mean `page-size`"),
        ("page_size = 1", "unknown key `page_size`; did you mean `page-size`"),
        ("colour-of-the-sky = 1", "unknown key `colour-of-the-sky`$"),
        ("page-size = 0", "`page-size` must be a whole number of at least 1, not 0"),
        ("page-size = true", "`page-size` must be a whole number"),
        ("time-limit = inf", "`time-limit` must be a number of seconds above 0 and up to 604,800, not inf"),
        ("time-limit = nan", "`time-limit` must be a number of seconds above 0 and up to 604,800, not nan"),
        ("time-limit = 1e300", "`time-limit` must be a number of seconds above 0 and up to 604,800, not 1e"),
        ("time-limit = -1", "`time-limit` must be a number of seconds"),
        ("time-limit = true", "`time-limit` must be a number of seconds"),
        ("jobs = 100000", "`jobs` must be a whole number of at most 512, not 100000"),
        ("jobs = 1.0", "`jobs` must be a whole number"),
        (f"max-extent = {10**30}", "`max-extent` must be a whole number of at most 9223372036854775807"),
        (f"page-size = 0x{'f' * 9000}", "`page-size` must be .*, not one that is too large to be shown"),
        (f"memory-limit = '{'9' * 9000}'", "`memory-limit` must be a number of bytes above 0"),
        (f"memory-limit = {2**60}", "`memory-limit` must be a number of bytes above 0.*, up to 1024 TiB"),
        (f"max-memory = '{'9' * 9000} MiB'", "`max-memory` must be a size with a unit"),
        ("devices = 1025", "`devices` must be a whole number of at most 1024"),
        (f"exclude = {['*a' * 9000]}", "`exclude` must be a list of patterns of up to 16,384 characters"),
        (f"ignore = {['RLX1'] * 1001}", "`ignore` must be a list of up to 1,000 texts"),
        ('"a\\u001b[2J" = 1', r"unknown key `'a\\x1b\[2J'`"),
        ('baseline = "a\\u0000"', "`baseline` must be text without a NUL"),
        ("time-limit = '9'", "`time-limit` must be a number of seconds"),
        (
            "memory-limit = '2 GB'",
            "`memory-limit` must be a number of bytes above 0, or text such as '512 MiB'",
        ),
        ("memory-limit = '-2 GiB'", "`memory-limit` must be"),
        ("trust-declared-bounds = 1", "`trust-declared-bounds` must be true or false, not 1"),
        ("allocators = []", "`allocators` must be a list of"),
        ("allocators = ['fast']", "`allocators` must be a list of"),
        ("fail-on = 'none'", "`fail-on` must be"),
        ("ignore = ['']", "`ignore` must be a list of texts"),
        ("severities = {RLX101 = 'none'}", '`severities` must be a table of "error", "warning" or "note"'),
        ("per-file-ignores = ['RLX1']", "`per-file-ignores` must be a table of lists of rule codes"),
        ("per-file-ignores = {'a.py' = 'RLX1'}", "`per-file-ignores` must be a table of lists of rule codes"),
        ("assume = 'n <= 4'", "`assume` must be a list of conditions"),
        ("assume = ['n']", r"`assume` must be a list of conditions .*\(`n` is not a condition\)"),
        ("assume = ['n <= f(4)']", r"\(`f\(4\)` is not an integer expression\)"),
        ("assume = ['4 <= 5']", r"\(`4 <= 5` names no symbol\)"),
        ("assume-in = {main = 'n <= 4'}", "`assume-in` must be a list of conditions"),
        ("max-file-size = '1 GiB'", "`max-file-size` must be a number of bytes up to 32 MiB"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, line: str, message: str) -> None:
    write(tmp_path, f"[tool.relax-lint]\n{line}\n")
    with pytest.raises(ConfigError, match=message) as error:
        load_config(folder=str(tmp_path))
    assert str(error.value).startswith(f"{tmp_path}/pyproject.toml: [tool.relax-lint]: ")


@pytest.mark.parametrize(
    "text",
    [
        "[tool.relax-lint]\nx = " + "[" * 5000,
        f"[tool.relax-lint]\njobs = {'9' * 9000}",
        # Of what follows Python's reader makes gigabytes.
        f"a{'.a' * 50_000} = 1\n[tool.relax-lint]\n",
        f"[tool.relax-lint]\n[a{' . a' * 50_000}]\n",
        f"[tool.relax-lint]\nx = {{'a'{QUOTED * 50_000} = 1}}\n",
    ],
)
def test_toml_that_python_cannot_read_is_one_error(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError, match=r"pyproject.toml: (nested too deeply|not TOML)"):
        load_config(folder=str(tmp_path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("time-limit = 61", "`time-limit` must be at most 60.0 in a discovered configuration; use --config"),
        ("memory-limit = '5 GiB'", "`memory-limit` must be at most 4,294,967,296 in a discovered"),
    ],
)
def test_a_file_that_was_found_loosens_no_limit(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, f"[tool.relax-lint]\n{line}\n")
    with pytest.raises(ConfigError, match=message):
        load_config(folder=str(tmp_path))
    assert load_config(str(path)) != Config()


def test_a_file_that_was_found_starts_no_more_processes_than_can_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relax_lint.settings.trust.cores", lambda: 3)
    path = write(tmp_path, "[tool.relax-lint]\njobs = 500\n")
    assert load_config(folder=str(tmp_path)).jobs == 3
    assert load_config(str(path)).jobs == 500


def test_whatever_limits_there_are_cannot_be_loosened() -> None:
    @dataclass(frozen=True)
    class Later(Config):
        sandbox: str = "auto"

    assert loosened(Later(sandbox="require"), Later()) is None
    assert loosened(Later(sandbox="off"), Later()) == ("sandbox", "`auto` or stricter")
    assert untrusted(Later(sandbox="off")) == Later(sandbox="require", cache=False, follow_links=False)


@pytest.mark.parametrize("line", ["baseline = '../x.json'", "cache-dir = '/tmp'", "cache-dir = 'link/x'"])
def test_a_file_that_was_found_leads_nowhere_else(tmp_path: Path, line: str) -> None:
    (tmp_path / "link").symlink_to("/")
    path = write(tmp_path, f"[tool.relax-lint]\n{line}\n")
    with pytest.raises(
        ConfigError,
        match=r"must stay inside the folder of the discovered configuration; use --config otherwise",
    ):
        load_config(folder=str(tmp_path))
    assert load_config(str(path)) != Config()


@pytest.mark.parametrize("text", ["tool = 1\nrelax-lint.x = 1", "[tool]\nrelax-lint = 1"])
def test_a_table_that_is_none(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError, match="must be a table"):
        load_config(folder=str(tmp_path))


def test_options_replace_single_values() -> None:
    base = Config(jobs=3, ignore=("RLX2",))
    assert with_options(base, {"jobs": 1}) == Config(jobs=1, ignore=("RLX2",))


def test_a_configuration_that_was_found_makes_the_sandbox_only_stricter(tmp_path: Path) -> None:
    write(tmp_path, '[tool.relax-lint]\nsandbox = "require"\n')
    assert load_config(folder=str(tmp_path)).sandbox == "require"
    write(tmp_path, '[tool.relax-lint]\nsandbox = "off"\n')
    with pytest.raises(
        ConfigError, match="`sandbox` must be `auto` or stricter in a discovered configuration"
    ):
        load_config(folder=str(tmp_path))
    assert load_config(str(tmp_path / "pyproject.toml")).sandbox == "off"
