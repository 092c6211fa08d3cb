"""The command itself on hostile file names, saved graphs, comments and configurations, in every format, in a locale that
can write ASCII only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from relax_lint.output.formats import FORMATS
from relax_lint.replay import confirm
from relax_lint.settings.config import Config
from tests.command import command
from tests.output.hostile import commands, controls

EXAMPLE = (Path(__file__).resolve().parents[2] / "examples" / "storage_overflow.py").read_text(
    encoding="utf-8"
)
ATTACK = "\x1b[2J\n::error file=x::owned\n##[error]\u202e\u2066\x7f\udcff"
NAMES = (
    "::error file=x::owned.py",
    "\n::error file=x::owned.py",
    "##[error]owned.py",
    "\x1b[2J\u202e.py",
    os.fsdecode(b"\xff\xfe.py"),
    "модель.py",
    ":.py",
)
LOCALES = (
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"LC_ALL": "C.UTF-8"},
)


def saved_graph() -> str:
    """A module as TVM saves it, with names that no text could have."""
    import tvm

    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.reading import read_units
    from relax_lint.sources.unit import ParsedUnit

    (unit,) = read_units(EXAMPLE.encode(), "a.py").units
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit)
    text = str(tvm.ir.save_json(parsed.ir_module))
    for name in ("main", "storage", "alloc"):
        # The halves of pairs that stand for bytes of file names are not in TVM's strings.
        hostile = json.dumps(f"{name}{ATTACK.removesuffix(chr(0xDCFF))}")
        assert f'"{name}"' in text
        text = text.replace(f'"{name}"', hostile)
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    for name in NAMES:
        (made / name).write_text(EXAMPLE, encoding="utf-8")
    (made / "broken\n::error::\x1b.py").write_text(
        f"from tvm.script import relax\n{ATTACK[:5]} = (\n", encoding="utf-8"
    )
    comment = "  # relax-lint: ignore[RLX101] -- \x1b[2J \u202e ##[error]owned\n"
    (made / "accepted.py").write_text(
        EXAMPLE.replace("\n    @R.function", f"{comment}\n    @R.function"), encoding="utf-8"
    )
    (made / "saved\n::error::.json").write_text(saved_graph(), encoding="utf-8")
    return made


def lint(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """In a process of its own where Python has to start in an environment."""
    call = [sys.executable, "-m", "relax_lint.cli", *arguments]
    if environment:
        variables = {**os.environ, **environment}
        done = subprocess.run(call, cwd=folder, capture_output=True, check=False, timeout=100, env=variables)
    else:
        done = command(folder, *arguments, encoding="ascii")
    assert b"Traceback" not in done.stderr
    assert b"internal error" not in done.stdout + done.stderr
    return done


def safe(output: bytes, *, of_github: bool = False) -> None:
    text = output.decode("utf-8")
    assert controls(text) == set()
    found = list(commands(text))
    if of_github:
        assert found == text.splitlines()
        assert all("title=RLX" in line and "##[" not in line for line in found)
    else:
        assert found == []


@pytest.mark.parametrize(("word", "name"), [(c, n) for c in ("check", "memory") for n in FORMATS[c]])
def test_every_format(folder: Path, word: str, name: str) -> None:
    # All are written by one function: how it meets a locale is seen of two.
    for environment in LOCALES if name in ("text", "json") else ({},):
        # The program overflows; `memory` tells findings where there is a budget.
        budget = ("--max-memory", "1B") if word == "memory" else ()
        done = lint(folder, word, *budget, "--output-format", name, ".", **environment)
        assert done.returncode == 1
        assert done.stdout != b""
        safe(done.stdout, of_github=name == "github")
        safe(done.stderr)


def test_the_names_arrive(folder: Path) -> None:
    done = lint(folder, "check", "--output-format", "json", ".")
    report = json.loads(done.stdout)
    assert {one["path"] for one in report["inputs"]} >= set(NAMES)
    functions = {one["function"] for one in report["checks"] if one["path"].endswith(".json")}
    assert functions == {f"main{ATTACK.removesuffix(chr(0xDCFF))}"}


@pytest.mark.vm
def test_replay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with confirm._session(Config()) as session:
        # The runs of one format need no other machine than those of the next.
        monkeypatch.setattr(confirm, "_session", lambda config: nullcontext(session))
        for name in FORMATS["replay"]:
            done = lint(folder, "replay", "--output-format", name, "saved\n::error::.json", NAMES[0])
            assert b"confirmed" in done.stdout
            safe(done.stdout)
            safe(done.stderr)


def test_proofs_and_baselines(folder: Path, tmp_path: Path) -> None:
    done = lint(
        folder,
        "check",
        "--proofs",
        str(tmp_path / "proofs"),
        "--baseline",
        str(tmp_path / "b"),
        "--write-baseline",
        ".",
    )
    safe(done.stdout)
    safe(done.stderr)
    for path in (tmp_path / "proofs").iterdir():
        assert path.suffix in (".smt2", ".txt")
        safe(path.read_bytes())
    assert controls((tmp_path / "b").read_text(encoding="utf-8")) == set()
    again = lint(folder, "check", "--baseline", str(tmp_path / "b"), ".")
    assert b"error[RLX101]" not in again.stdout
    (tmp_path / "b").write_text(
        (tmp_path / "b").read_text().replace('"path": "', '"path": "gone '), encoding="utf-8"
    )
    stale = lint(folder, "check", "--baseline", str(tmp_path / "b"), "accepted.py")
    assert b"is stale" in stale.stderr
    safe(stale.stderr)


@pytest.mark.parametrize(
    "table",
    [
        '"\\u001b[2J\\n::error::owned\\u202e" = 1',
        'select = ["\\n::error::owned\\u001b[2J"]',
        'fail-on = "##[error]\\n::error::\\u202e"',
        'assume = ["n <= \\u001b[2J\\n::error::"]',
        'baseline = "\\n::error::owned\\u001b[2J"',
        'cache-dir = "no\\n::error::owned\\u001b[2J"',
        'target = "\\n::error::owned\\u001b[2J"\nlower = true',
    ],
)
def test_values_of_a_configuration_that_was_found(tmp_path: Path, table: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.relax-lint]\n{table}\n", encoding="utf-8")
    (tmp_path / "model.py").write_text(EXAMPLE, encoding="utf-8")
    (tmp_path / "no\n::error::owned\x1b[2J").touch()
    done = lint(tmp_path, "check", "model.py")
    assert done.stdout + done.stderr != b""
    safe(done.stdout)
    safe(done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", ATTACK[:-1]),
        ("check", f"--{ATTACK[:-1]}", "a.py"),
        ("check", "--select", ATTACK[:-1], "a.py"),
        ("check", "--config", ATTACK, "a.py"),
        ("check", "--output-file", f"no/{ATTACK}", "a.py"),
        ("check", "--executor", ATTACK[:-1], "a.py"),
        ("memory", "--compare", ATTACK, "a.py"),
        ("memory", "--bind", ATTACK, "a.py"),
        ("check", ATTACK),
        ("replay", ATTACK),
    ],
)
def test_errors_on_the_command_line(folder: Path, arguments: tuple[str, ...]) -> None:
    done = lint(folder, *arguments, **LOCALES[0])
    assert done.returncode in (0, 1, 2)
    safe(done.stdout)
    safe(done.stderr)
    if done.returncode == 2:
        assert done.stderr.count(b"\n") == 1
