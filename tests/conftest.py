"""What all tests share."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

# In CI the examples are the same in every run: what is random is tried by people, and by `make slow`.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

_NUMBERS = count()


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the caches of all tests."""
    return tmp_path_factory.mktemp("caches")


@pytest.fixture(autouse=True)
def own_cache(caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds what another one, or the user, has kept."""
    monkeypatch.setenv("RELAX_LINT_CACHE_DIR", str(caches / str(next(_NUMBERS))))
