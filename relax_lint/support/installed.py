"""Which distributions are installed, read from the folders beside the packages.

`importlib.metadata` says the same, but its import, with the parsers of e-mails and archives, costs more than
the rest of a run that finds everything in its cache. It is asked where something else than folders is on the
path. Imports nothing of this tool.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint
    from typing import Any

_KINDS = (".dist-info", ".egg-info")
_PLAIN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")


class ModuleEntry:
    """An entry point whose value is the name of a module; otherwise as `importlib.metadata.EntryPoint`."""

    def __init__(self, value: str, folder: str) -> None:
        self.value = self.module = value
        self._folder = folder

    @property
    def dist(self) -> Distribution | None:
        """The distribution that declares it."""
        from importlib.metadata import Distribution
        from pathlib import Path

        return Distribution.at(Path(self._folder))

    def load(self) -> Any:
        """The module."""
        return import_module(self.value)


def versions(names: Iterable[str]) -> tuple[str, ...]:
    """The version of each installed distribution; `none` for one that is not installed."""
    folders = _folders()
    if folders is None:
        return tuple(map(_declared, names))
    places: dict[str, str] = {}
    for key, path in folders:
        places.setdefault(key, path)
    return tuple(_version(name, places.get(_normal(name))) for name in names)


def _version(name: str, folder: str | None) -> str:
    if folder is None:
        return "none"
    stem, kind = os.path.splitext(os.path.basename(folder))
    stated = stem.partition("-")[2]
    # Of an installation for development only what it declares tells the version.
    return stated if kind == _KINDS[0] and stated else _declared(name)


def _declared(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def entry_points(group: str) -> tuple[ModuleEntry | EntryPoint, ...]:
    """The entry points of a group, of each distribution the first that the path leads to."""
    folders = _folders()
    if folders is not None:
        declared = [(value, path) for path in _first(folders) for value in _values(path, group)]
        if all(_PLAIN_NAMES.issuperset(value) for value, _ in declared):
            return tuple(ModuleEntry(value, path) for value, path in declared)
    from importlib.metadata import entry_points as all_of

    return tuple(all_of(group=group))


def _folders() -> list[tuple[str, str]] | None:
    """The name of each distribution and the folder about it, in the order of the path; None where there may
    be others than those in folders."""
    for finder in sys.meta_path:
        if finder is not PathFinder and hasattr(finder, "find_distributions"):
            return None
    found = []
    for place in sys.path:
        try:
            names = os.listdir(place or os.curdir)
        except OSError:
            if os.path.isfile(place):
                return None
            continue
        if place.endswith(".egg") or "EGG-INFO" in names:
            return None
        for name in names:
            if name.endswith(_KINDS):
                stem = os.path.splitext(name)[0]
                found.append((_normal(stem.partition("-")[0]), os.path.join(place, name)))
    return found


def _first(folders: Iterable[tuple[str, str]]) -> Iterable[str]:
    """One folder for each name."""
    kept: dict[str, str] = {}
    for name, path in folders:
        kept.setdefault(name, path)
    return kept.values()


def _values(folder: str, group: str) -> Iterator[str]:
    try:
        with open(os.path.join(folder, "entry_points.txt"), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return
    inside = False
    for line in map(str.strip, lines):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and line and not line.startswith("#"):
            yield line.partition("=")[2].strip()


def _normal(name: str) -> str:
    """What names that mean one distribution have in common, as PEP 503 has it."""
    while (shorter := name.replace("-", "_").replace(".", "_").replace("__", "_")) != name:
        name = shorter
    return name.lower()
