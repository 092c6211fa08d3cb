"""The hooks under the real pre-commit, in temporary git repositories."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.hooks.repositories import ROOT, Repository, hook_repository, repository, use_hooks

pytest.importorskip("pre_commit")

BAD = (ROOT / "examples" / "storage_overflow.py").read_text(encoding="utf-8")
CLEAN = BAD.replace("R.shape([16])", "R.shape([4 * m])")
ORDINARY = "import os\n\nprint(os.name)\n"

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def hooks(tmp_path: Path) -> Repository:
    """The hooks alone: enough for those that use the installed relax-lint."""
    return hook_repository(tmp_path / "hooks", tmp_path / "home", whole=False)


@pytest.fixture
def user(tmp_path: Path, hooks: Repository) -> Repository:
    """A repository that uses the hook of the installed relax-lint."""
    made = repository(tmp_path / "user", tmp_path / "home")
    use_hooks(made, hooks, "relax-lint-system")
    return made


@needs_git
def test_a_bad_commit_is_stopped_and_a_clean_one_passes(user: Repository) -> None:
    user.stage(model=BAD, other=ORDINARY)
    stopped = user.run("git", "commit", "--message", "bad")
    assert stopped.returncode == 1
    assert "warning[RLX101] storage-overflow" in stopped.stdout + stopped.stderr
    assert user.commits() == 0
    user.stage(model=CLEAN)
    user.git("commit", "--quiet", "--message", "clean")
    assert user.commits() == 1


@needs_git
def test_a_bad_commit_is_fixed_and_then_passes(user: Repository, hooks: Repository) -> None:
    use_hooks(user, hooks, "relax-lint-system", "--fix")
    user.stage(model=BAD)
    stopped = user.run("git", "commit", "--message", "bad")
    assert stopped.returncode == 1
    assert "files were modified by this hook" in stopped.stdout + stopped.stderr
    assert "R.shape([m * 4])" in (user.folder / "model.py").read_text(encoding="utf-8")
    user.git("add", "--all")
    user.git("commit", "--quiet", "--message", "fixed")
    assert user.commits() == 1


@needs_git
def test_only_staged_python_files_are_looked_at(user: Repository) -> None:
    (user.folder / "notes.md").write_text(f"```python\n{BAD}```\n", encoding="utf-8")
    user.stage(other=ORDINARY)
    (user.folder / "draft.py").write_text(BAD, encoding="utf-8")
    user.git("commit", "--quiet", "--message", "ordinary")
    assert user.commits() == 1


@needs_git
def test_try_repo(user: Repository, hooks: Repository) -> None:
    user.stage(ordinary=ORDINARY)
    tried = user.pre_commit("try-repo", str(hooks.folder), "relax-lint-system", "--all-files")
    assert tried.returncode == 0, tried.stdout
    assert "Passed" in tried.stdout


@pytest.mark.slow
@needs_git
def test_the_isolated_hooks_are_installed_stop_fix_and_pass(tmp_path: Path) -> None:
    home = tmp_path / "home"
    hooks = hook_repository(tmp_path / "hooks", home, whole=True)
    user = repository(tmp_path / "user", home)
    (home / "bin" / "relax-lint").unlink()
    use_hooks(user, hooks, "relax-lint")
    user.stage(model=BAD)
    stopped = user.run("git", "commit", "--message", "bad")
    assert stopped.returncode == 1
    assert "warning[RLX101] storage-overflow" in stopped.stdout + stopped.stderr
    use_hooks(user, hooks, "relax-lint-fix")
    user.git("add", "--all")
    assert "files were modified by this hook" in user.run("git", "commit", "--message", "bad").stderr
    user.git("add", "--all")
    user.git("commit", "--quiet", "--message", "fixed")
    assert user.commits() == 1


def test_the_project_uses_its_own_hook() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    used = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    (local,) = [hook for repo in used["repos"] for hook in repo["hooks"] if hook["id"] == "relax-lint"]
    offered = hooks["relax-lint-system"]
    for key in ("types", "require_serial"):
        assert local[key] == offered[key]
    assert local["entry"] == f".venv/bin/{offered['entry']}"
