"""The Python blocks of the pages pass `mypy --strict`, and what the pages name is there."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import relax_lint

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# TVM has no types, and the annotations of TVMScript are calls.
TVM = "[mypy]\nstrict = true\n[mypy-tvm.*]\nignore_missing_imports = true\nfollow_imports = skip\n"
TVM_CODES = "valid-type, untyped-decorator, misc"
# The modules that the guide to rule packages shows are checked as the package that they are.
OWN = ("rule-packages.md",)


def test_the_blocks_are_typed(tmp_path: Path) -> None:
    plain: list[str] = []
    with_tvm: list[str] = []
    for page in PAGES:
        blocks = re.findall(
            r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
        text = "\n\n".join(blocks)
        if "import relax_lint" not in text or page.name in OWN:
            continue
        file = tmp_path / f"{page.stem.replace('-', '_')}.py"
        file.write_text(text, encoding="utf-8")
        (with_tvm if "@I.ir_module" in text else plain).append(str(file))
    assert len(plain) >= 3
    assert len(with_tvm) >= 2
    # One run for all: what they import takes most of it.
    own = "".join(f"[mypy-{Path(file).stem}]\ndisable_error_code = {TVM_CODES}\n" for file in with_tvm)
    (tmp_path / "mypy.ini").write_text(TVM + own, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        "mypy.ini",
        "--cache-dir",
        # The package itself is looked at anew where it has changed.
        str(ROOT / ".mypy_cache" / "pages"),
    ]
    done = subprocess.run(
        [*command, *plain, *with_tvm], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", relax_lint.__all__)
def test_what_is_exported_is_there(name: str) -> None:
    assert getattr(relax_lint, name) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page: Path) -> None:
    for dotted in set(re.findall(r"\brelax_lint(?:\.[A-Za-z_]\w*)+", page.read_text(encoding="utf-8"))):
        name = dotted.split(".", 1)[1]
        if name.rpartition(".")[2] in ("py", "md", "json", "lua"):
            continue
        assert name in relax_lint.__all__ or _is_module_or_in_one(dotted), dotted


def _is_module_or_in_one(dotted: str) -> bool:
    home, _, name = dotted.rpartition(".")
    try:
        importlib.import_module(dotted)
    except ModuleNotFoundError:
        return hasattr(importlib.import_module(home), name)
    return True
