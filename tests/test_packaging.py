"""What is installed is what is in the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from relax_lint import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PYPROJECT["tool"]["setuptools"]

TREES = {"relax_lint": ROOT / "relax_lint", "relax_lint_rules": ROOT / "rules" / "relax_lint_rules"}


def test_every_folder_of_modules_is_a_package() -> None:
    for name, root in TREES.items():
        folders = {path.parent for path in root.rglob("*.py")}
        assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []
        assert f"{name}*" in SETUPTOOLS["packages"]["find"]["include"]
        assert any(root.parent == ROOT / where for where in SETUPTOOLS["packages"]["find"]["where"])


def test_every_data_file_is_installed() -> None:
    patterns = SETUPTOOLS["package-data"]
    for package, root in TREES.items():
        installed = {path for pattern in patterns[package] for path in root.glob(pattern)}
        data = {
            path
            for path in root.rglob("*")
            if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
        }
        assert data == installed


def test_the_version_has_one_place() -> None:
    assert "version" not in PYPROJECT["project"]
    assert SETUPTOOLS["dynamic"]["version"] == {"attr": "relax_lint.__version__"}
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    ours = re.findall(r"relax-lint@(?:COMMIT # )?(v[0-9.]+)|^ *rev: (v[0-9.]+)$", text, re.MULTILINE)
    assert {one or other for one, other in ours} == {f"v{__version__}"}


def test_one_address_stands_for_that_of_the_project() -> None:
    address = "https://github.com/OWNER/relax-lint"
    assert PYPROJECT["project"]["urls"]["Source"] == address
    assert all(url.startswith(address) for url in PYPROJECT["project"]["urls"].values())
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "s#github.com/OWNER/relax-lint#" in workflow


def _tree(folder: Path) -> Path:
    """The files that git knows, elsewhere."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def _run(*command: object, cwd: Path, **variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_same_commit_is_the_same_wheel(tmp_path: Path) -> None:
    pytest.importorskip("build")
    wheels = []
    for name in ("one", "another folder"):
        tree = _tree(tmp_path / name)
        _run(sys.executable, "-m", "build", "--outdir", "dist", cwd=tree, SOURCE_DATE_EPOCH="1700000000")
        (wheel,) = (tree / "dist").glob("*.whl")
        (source,) = (tree / "dist").glob("*.tar.gz")
        wheels.append(wheel)
    assert wheels[0].name == f"relax_lint-{__version__}-py3-none-any.whl"
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    names = set(zipfile.ZipFile(wheels[0]).namelist())
    assert {"relax_lint/py.typed", "relax_lint_rules/py.typed"} <= names
    assert not any(name.startswith(("tests/", "tools/", "docs/")) for name in names)
    with tarfile.open(source) as packed:
        held = {member.partition("/")[2] for member in packed.getnames()}
    kept = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    left_out = {name for name in kept if not name.startswith(("dist/", ".gitignore", "build/"))} - held
    # To build writes these.
    assert not {name for name in left_out if ".egg-info" not in name and "__pycache__" not in name}


@pytest.mark.slow
def test_an_editable_install_has_types(tmp_path: Path) -> None:
    tree, venv = _tree(tmp_path / "tree"), tmp_path / "venv"
    _run(sys.executable, "-m", "venv", venv, cwd=tmp_path)
    python = venv / "bin" / "python"
    _run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--editable", tree, cwd=tmp_path)
    (tmp_path / "program.py").write_text("import relax_lint\n\nreveal_type(relax_lint.check('a.py'))\n")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "program.py"]
    assert 'Revealed type is "relax_lint.results.report.Report"' in _run(*mypy, cwd=tmp_path)
    assert _run(venv / "bin" / "relax-lint", "--version", cwd=tmp_path) == f"relax-lint {__version__}\n"
    _run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "relax-lint", cwd=tmp_path)
    assert not list(venv.glob("lib/*/site-packages/*relax_lint*"))


@pytest.mark.slow
def test_beside_a_tvm_of_ones_own(tmp_path: Path) -> None:
    """`--no-deps`: without TVM what needs none works; a development build of TVM is one warning."""
    import tvm

    venv = tmp_path / "venv"
    _run(sys.executable, "-m", "venv", venv, cwd=tmp_path)
    install = ["-m", "pip", "install", "--quiet", "--no-deps", _tree(tmp_path / "tree")]
    _run(venv / "bin" / "python", *install, cwd=tmp_path)
    lint = venv / "bin" / "relax-lint"
    (tmp_path / "ordinary.py").write_text("import os\n")
    assert _run(lint, "ordinary.py", cwd=tmp_path) == "no Relax function in 1 input\n"
    assert "storage-overflow" in _run(lint, "rules", cwd=tmp_path)
    missing = subprocess.run([lint, "doctor"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1
    assert "not installed: TVM cannot be loaded: ModuleNotFoundError: No module named 'tvm'" in missing.stdout

    # The TVM of these tests under another version, and all that it needs.
    (site,) = venv.glob("lib/*/site-packages")
    installed = Path(tvm.__file__).parent
    (site / "tvm").mkdir()
    for part in installed.iterdir():
        if part.name not in ("_version.py", "__pycache__"):
            (site / "tvm" / part.name).symlink_to(part)
    (site / "tvm" / "_version.py").write_text("__version__ = version = '0.99.dev7'\n", encoding="utf-8")
    (site / "others.pth").write_text(f"{installed.parent}\n", encoding="utf-8")
    assert "0.99.dev7, works; not a tested version" in _run(lint, "doctor", cwd=tmp_path)
    example = ROOT / "examples" / "storage_overflow.py"
    command = [str(lint), "--no-cache", "--exit-zero", "--statistics", "--quiet", str(example)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("1  RLX101  [*] storage-overflow\n")
    assert done.stderr.count("\n") == 1
    assert "warning: TVM 0.99.dev7 is not a tested version" in done.stderr
