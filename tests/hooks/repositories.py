"""Temporary git repositories, and pre-commit in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT = (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE", "relax_lint", "rules", "tools")
"""What a hook repository has to hold to be installed."""


@dataclass(frozen=True)
class Repository:
    """A git repository, and a home of its own for pre-commit, out of reach of the user's settings."""

    folder: Path
    home: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command in the repository. `relax-lint` is the one that is being tested."""
        environment = {
            **os.environ,
            "PATH": f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PRE_COMMIT_HOME": str(self.home / "cache"),
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{
                f"GIT_{who}_{what}": "a@b.invalid"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        }
        for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "PRE_COMMIT"):
            environment.pop(name, None)
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def git(self, *arguments: str) -> str:
        """Its output. Raises AssertionError where git fails."""
        done = self.run("git", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def pre_commit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A run of pre-commit."""
        return self.run(sys.executable, "-m", "pre_commit", *arguments)

    def stage(self, **files: str) -> None:
        """Write modules, by name without `.py`, and stage them."""
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text, encoding="utf-8")
        self.git("add", "--all")

    def commits(self) -> int:
        """How many commits there are."""
        return int(self.git("rev-list", "--count", "--all"))


def repository(folder: Path, home: Path) -> Repository:
    """A new repository without commits."""
    folder.mkdir(parents=True)
    program = home / "bin" / "relax-lint"
    if not program.exists():
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m relax_lint.cli "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    made = Repository(folder, home)
    made.git("init", "--quiet", "--initial-branch", "main")
    return made


def hook_repository(folder: Path, home: Path, *, whole: bool) -> Repository:
    """A repository with the hooks of this project, and where `whole`, with all that installing it needs."""
    made = repository(folder, home)
    for name in PROJECT if whole else PROJECT[:1]:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    made.git("add", "--all")
    made.git("commit", "--quiet", "--message", "hooks")
    return made


def use_hooks(user: Repository, hooks: Repository, name: str, *arguments: str) -> None:
    """Configure and install a hook, as a user would."""
    hook = {"id": name, "args": list(arguments)}
    source = {"repo": str(hooks.folder), "rev": hooks.git("rev-parse", "HEAD"), "hooks": [hook]}
    config = user.folder / ".pre-commit-config.yaml"
    config.write_text(yaml.safe_dump({"repos": [source]}), encoding="utf-8")
    installed = user.pre_commit("install")
    assert installed.returncode == 0, installed.stdout + installed.stderr
