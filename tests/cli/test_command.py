"""The command on good input: exit codes, formats, options."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from relax_lint.cli import main
from tests.cli.conftest import FINE, ORDINARY, OVERFLOW, Run

Write = Callable[[str, str | bytes], str]


def test_findings_are_exit_code_1_with_and_without_the_word_check(start: Run, write: Write) -> None:
    write("model.py", OVERFLOW)
    short, long = start("model.py"), start("check", "model.py")
    assert short.returncode == long.returncode == 1
    assert short.stdout == long.stdout
    assert short.stderr == ""
    assert "warning[RLX101] storage-overflow: " in short.stdout
    assert "  --> model.py:10:17\n" in short.stdout
    assert "= safe iff m <= 4; naive fails from m = 5; pooled hides it until m = 1025\n" in short.stdout


def test_findings_below_the_failing_level_are_exit_code_0(run: Run, write: Write) -> None:
    assert run("--fail-on", "error", write("model.py", OVERFLOW)).returncode == 0


def test_no_input_is_exit_code_3_only_on_demand(start: Run, write: Write, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (write("a.py", ORDINARY), write("empty.py", ""), "empty"):
        assert start(path).returncode == 0
        result = start("--error-on-no-input", path)
        assert (result.returncode, result.stdout.startswith("no Relax function in ")) == (3, True)


@pytest.mark.parametrize(
    "options", [["--output-format", "concise"], ["--output-format", "json"], ["--quiet"]], ids=" ".join
)
def test_exit_code_3_always_says_why(run: Run, write: Write, options: list[str]) -> None:
    result = run("--error-on-no-input", *options, write("a.py", ORDINARY), write("b.py", ORDINARY))
    assert result.returncode == 3
    assert result.stderr == "relax-lint: no input of 2 has a Relax function (`--error-on-no-input`)\n"


def test_a_file_without_relax_loads_nothing_heavy(run: Run, write: Write, tmp_path: Path) -> None:
    write("a.py", ORDINARY)
    program = "import sys; from relax_lint.cli import main; assert main(['a.py']) == 0; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = set(result.stdout.split())
    assert "relax_lint.cli" in loaded
    assert not {"tvm", "sympy", "numpy", "pathspec", "subprocess", "dataclasses", "typing", "ast"} & loaded


def test_json_on_standard_output_and_in_a_file(run: Run, write: Write, tmp_path: Path) -> None:
    write("model.py", OVERFLOW)
    write("a.py", ORDINARY)
    printed = run("--output-format", "json", "model.py", "a.py")
    filed = run("--output-format", "json", "--output-file", "report.json", "model.py", "a.py")
    assert printed.returncode == filed.returncode == 1
    assert filed.stdout == ""
    assert (tmp_path / "report.json").read_text() == printed.stdout
    report = json.loads(printed.stdout)
    assert [(one["path"], one["status"]) for one in report["inputs"]] == [
        ("model.py", "checked"),
        ("a.py", "skipped"),
    ]
    assert report["tool"]["tvm_version"]
    (finding,) = [check for check in report["checks"] if check["severity"] == "warning"]
    assert (finding["rule"], finding["safe_when"]) == ("RLX101", "m <= 4")
    assert report["memory"][0]["reserved"]["pooled"] == {"expr": "4096", "value": 4096}


def test_standard_input(start: Run) -> None:
    result = start("--stdin-filename", "shown.py", "-", input=OVERFLOW)
    assert result.returncode == 1
    assert "--> shown.py:10:17\n" in result.stdout


def test_memory_prints_the_totals_only(run: Run, write: Write) -> None:
    result = run("memory", "--allocator", "pooled", write("model.py", OVERFLOW))
    assert "memory of Module.main (model.py)" in result.stdout
    assert re.search(r"reserved, pooled +4,096 bytes \(4 KiB\)", result.stdout)
    assert "naive" not in result.stdout
    assert "RLX101" not in result.stdout
    assert result.returncode == 0


def test_quiet_and_provers(run: Run, write: Write) -> None:
    write("model.py", OVERFLOW)
    quiet, provers = run("--quiet", "model.py"), run("--show-provers", "model.py")
    assert provers.stdout.startswith(quiet.stdout)
    assert "decided by\n" in provers.stdout
    assert run("--quiet", write("a.py", ORDINARY)).stdout == ""


def test_quiet_says_nothing_of_what_is_fine(run: Run, write: Write) -> None:
    result = run("--quiet", write("fine.py", FINE))
    assert (result.returncode, result.stdout) == (0, "")


def test_selection(run: Run, write: Write) -> None:
    write("model.py", OVERFLOW)
    assert run("--ignore", "RLX101", "model.py").returncode == 0
    assert run("--select", "RLX102,RLX103", "model.py").returncode == 0
    # What cannot be read is said whatever is selected, unless it is ignored by its code.
    write("broken.py", OVERFLOW + "\n(")
    assert run("--select", "RLX102", "broken.py").returncode == 1
    assert run("--ignore", "RLX901", "--select", "RLX102", "broken.py").returncode == 0


def test_colour_is_for_terminals_unless_asked_for(run: Run, write: Write) -> None:
    broken = write("broken.py", OVERFLOW + "\n(")
    assert "\x1b" not in run(broken).stdout
    assert "\x1b[1;31merror[RLX901]" in run("--color", "always", broken).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("variables", "painted"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_on_a_terminal(variables: dict[str, str], painted: bool) -> None:
    import os
    import pty

    leader, follower = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    command = [sys.executable, "-m", "relax_lint.cli", "rules"]
    subprocess.run(command, stdout=follower, env={**environment, **variables}, check=True)
    os.close(follower)
    assert (b"\x1b[" in os.read(leader, 100_000)) == painted
    os.close(leader)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", [20, 52])
def test_the_width_of_the_terminal(columns: int) -> None:
    import fcntl
    import os
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "TERM")}
    command = [sys.executable, "-m", "relax_lint.cli", "rules", "--color", "never"]
    with subprocess.Popen(command, stdout=follower, env=environment) as process:
        os.close(follower)
        shown = b""
        with suppress(OSError):
            while part := os.read(leader, 100_000):
                shown += part
    os.close(leader)
    assert process.returncode == 0
    # Below forty columns the terminal itself breaks the lines.
    assert max(map(len, shown.decode().splitlines())) in range(columns - 8, max(columns, 40) + 1)


def test_rules_and_explain(run: Run) -> None:
    rules = run("rules")
    assert rules.returncode == 0
    assert re.search(r"^RLX101 +storage-overflow +\S", rules.stdout, re.MULTILINE)
    page = run("explain", "rlx101")
    assert page.returncode == 0
    assert "RLX101" in page.stdout.splitlines()[0]
    assert run("explain", "storage-overflow").stdout == page.stdout


def test_help_and_version(start: Run) -> None:
    import relax_lint

    assert start("--version").stdout == f"relax-lint {relax_lint.__version__}\n"
    assert "memory   report" in start("--help").stdout
    assert "--stdin-filename" in start("check", "--help").stdout


def test_the_python_call_gives_the_same_checks(run: Run, write: Write, tmp_path: Path) -> None:
    import relax_lint

    write("model.py", OVERFLOW)
    report = relax_lint.check(tmp_path / "model.py")
    (finding,) = [check for check in report.checks if check.severity.value == "warning"]
    assert (finding.rule, finding.safe_when) == ("RLX101", "m <= 4")
    assert finding.location is not None
    assert (finding.location.line, finding.location.column) == (10, 17)


def test_a_module_in_memory(write: Write) -> None:
    pytest.importorskip("tvm")
    import relax_lint
    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.reading import read_units

    unit = parse_unit(read_units(OVERFLOW.encode(), "model.py", "python").units[0])
    report = relax_lint.check(unit.ir_module)  # type: ignore[union-attr]
    assert [check.rule for check in report.checks if check.severity.value == "warning"] == ["RLX101"]
    assert report.files[0].input.functions == 1


def test_a_call_inside_of_a_program_leaves_the_collector_as_it_was(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write("a.py", OVERFLOW)
    monkeypatch.chdir(tmp_path)
    frozen = gc.get_freeze_count()
    assert gc.isenabled()
    for arguments, code in ((["a.py"], 1), (["a.py", "--baseline", "none.json"], 2), (["memory", "a.py"], 0)):
        assert main([*arguments, "--jobs", "1"]) == code
        assert gc.isenabled()
    # Fewer where what the tests themselves have frozen is gone since; to freeze adds many thousands.
    assert gc.get_freeze_count() <= frozen


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chek"], "unknown command `chek`; did you mean `check`?"),
        (["memroy", "model.py"], "unknown command `memroy`; did you mean `memory`?"),
        (["check", "--selct", "RLX1", "."], "unknown option `--selct`; did you mean `--select`?"),
        (["--no-cashe", "."], "unknown option `--no-cashe`; did you mean `--no-cache`?"),
    ],
)
def test_a_mistyped_word_is_told_with_the_nearest(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        sys.exit(main(arguments))
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_a_file_with_the_name_of_a_mistyped_command_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chek").write_text("import os\n")
    assert main(["chek"]) == 0
