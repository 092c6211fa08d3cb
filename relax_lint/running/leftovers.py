"""The removal of a folder that a process wrote to which somebody may have taken over: whatever is in it, and
however deep, it goes, and nothing outside of it.
"""

from __future__ import annotations

import contextlib
import os
import secrets

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def remove_folder(path: str) -> None:
    """Remove a folder that nobody writes to any more, with all that is in it, without recursion and with few
    open files; what the system does not let go of stays.
    """
    with contextlib.suppress(OSError):
        top = os.open(path, _FOLDER)
        try:
            waiting = _without_files(top)
            while waiting:
                waiting += _taken_apart(waiting.pop(), top)
        finally:
            os.close(top)
        os.rmdir(path)


def _taken_apart(name: str, top: int) -> list[str]:
    """Remove a folder in `top`; the names in `top` that the folders in it now have."""
    found: list[str] = []
    with contextlib.suppress(OSError):
        # Its owner may have made it so that nobody can look into it.
        os.chmod(name, 0o700, dir_fd=top)
        folder = os.open(name, _FOLDER, dir_fd=top)
        try:
            for inner in _without_files(folder):
                found += _moved(inner, folder, top)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=top)
    return found


def _without_files(folder: int) -> list[str]:
    """Remove the files of a folder; the names of the folders in it."""
    folders = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
                continue
            with contextlib.suppress(OSError):
                os.unlink(entry.name, dir_fd=folder)
    return folders


def _moved(name: str, folder: int, top: int) -> list[str]:
    new = secrets.token_hex(16)
    with contextlib.suppress(OSError):
        # To be moved a folder has to be writable.
        os.chmod(name, 0o700, dir_fd=folder)
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
        return [new]
    return []
