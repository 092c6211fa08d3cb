"""Landlock: which files this process may open from now on, and that it reaches no other process."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable

from relax_lint.running.sandbox.syscalls import (
    ADD_RULE,
    CREATE_RULESET,
    RESTRICT_SELF,
    pointer,
    prctl,
    system_call,
)

_VERSION_FLAG = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
# By the version of the interface, the last of the rights to files that it knows.
_LAST_RIGHT = {1: 12, 2: 13, 3: 14, 4: 14}
_NEWEST_LAST_RIGHT = 15
_TCP = 0b11
_SCOPES = 0b11

READ = _READ_FILE | _READ_DIR
LIST = _READ_DIR
WRITE = READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE

FIRST_WITH_TRUNCATION = 3
_FIRST_WITH_TCP, _FIRST_WITH_SCOPES = 4, 6


def version() -> int:
    """The version of Landlock's interface; 0 where there is none."""
    try:
        return system_call(CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def restrict(allowed: Iterable[tuple[str, int]]) -> None:
    """Allow this process, and nothing that it is handed later, the rights (`READ`, `LIST`, `WRITE`) to the
    files at and below the paths. What is open already stays open. A path that is not there is left out.

    Has to be called before a second thread begins. Raises OSError.
    """
    handled = (1 << (_LAST_RIGHT.get(version(), _NEWEST_LAST_RIGHT) + 1)) - 1
    ruleset = _new_ruleset(handled)
    try:
        for path, rights in allowed:
            _allow(ruleset, path, rights & handled)
        prctl(_PR_SET_NO_NEW_PRIVS, 1)
        system_call(RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _new_ruleset(handled: int) -> int:
    attributes = [handled]
    if version() >= _FIRST_WITH_TCP:
        attributes.append(_TCP)
    if version() >= _FIRST_WITH_SCOPES:
        attributes.append(_SCOPES)
    packed = struct.pack(f"={len(attributes)}Q", *attributes)
    return system_call(CREATE_RULESET, pointer(packed), len(packed), 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _OF_A_FILE
        rule = struct.pack("=Qi", rights, descriptor)
        if rights:
            system_call(ADD_RULE, ruleset, _PATH_BENEATH, pointer(rule), 0)
    finally:
        os.close(descriptor)
