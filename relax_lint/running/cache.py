"""Results of earlier runs, kept by what they depend on: see `docs/speed.md`.

An entry is written in one piece and never changed, so that runs at the same time do not disturb each other.
What cannot be read or written is as if it were not there; the first such event is kept in `problem`.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import time
import zlib
from collections.abc import Iterator
from functools import cached_property

from relax_lint.running.fingerprint import EngineFiles, tool_fingerprint
from relax_lint.running.kept_answers import default_folder as default_folder
from relax_lint.running.messages import FileData
from relax_lint.running.outcome import MAX_TEXT_BYTES, Outcome, outcome_text, read_outcome
from relax_lint.settings.config import Config
from relax_lint.support.regular_file import IrregularFileError, read_regular

MAX_BYTES = 256 << 20
"""What a folder holds at most, once a run is over."""

_ENTRIES = "v1"
_ENGINES = "engines"
_TAG = "CACHEDIR.TAG"
# The signature is that of https://bford.info/cachedir/.
_TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of relax-lint, safe to delete.\n"
_MAX_TAG_BYTES = 4096
_DAY_S = 86_400.0
_NEW = ".new-"
_DIGEST = "[0-9a-f]{64}"
_FOLDER = "[0-9a-f]{2}"
_ENTRY = rf"[0-9a-f]{{62}}|\{_NEW}.*"


class Cache:
    """The results in one folder, which is made when there is something to keep."""

    def __init__(self, folder: str, config: Config, *, max_bytes: int = MAX_BYTES) -> None:
        self.problem: str | None = None
        self.knew_all = True
        """Whether every result was there that was asked for."""
        self._folder = os.path.abspath(folder)
        self._max_bytes = max_bytes
        self._config = config
        self._usable = self._is_ours()
        self._writable = self._usable
        self._wrote = False

    @cached_property
    def _base(self) -> str:
        return f"{tool_fingerprint(self._engine_contents())}\n{self._config.for_analysis!r}\n"

    def _engine_contents(self) -> str:
        """What the files of the engine contain, as remembered if none of them was touched since."""
        engine = EngineFiles()
        path, stamp = os.path.join(self._folder, _ENGINES, engine.place), engine.stamp
        with contextlib.suppress(OSError, ValueError):
            told = read_regular(path, _MAX_TAG_BYTES, beneath=self._folder).decode().split("\n")
            if len(told) == 2 and told[0] == stamp and re.fullmatch(_DIGEST, told[1]):
                return told[1]
        contents = engine.contents()
        if self._writable and engine.is_settled:
            # Without it the next run reads the files again.
            with contextlib.suppress(OSError):
                self._prepare()
                self._write(path, f"{stamp}\n{contents}".encode())
        return contents

    def get(self, file: FileData) -> Outcome | None:
        """What became of the same input before; None if that is not known."""
        found = self._get(file)
        self.knew_all = self.knew_all and found is not None
        return found

    def _get(self, file: FileData) -> Outcome | None:
        if not self._usable:
            return None
        path = self._path(file)
        try:
            data = read_regular(path, MAX_TEXT_BYTES, beneath=self._folder)
            aged = time.time() - os.lstat(path).st_mtime > _DAY_S
            # A byte more than may be: enough to see that an entry is too large, whatever it would become.
            text = zlib.decompressobj().decompress(data, MAX_TEXT_BYTES + 1)
            outcome = read_outcome(text.decode())
        except FileNotFoundError:
            return None
        except IrregularFileError:
            self._note(f"a damaged entry of the cache in {self._folder} is not used")
            return None
        except OSError as error:
            self._note(f"cannot read the cache in {self._folder}: {error.strerror}")
            return None
        except (ValueError, zlib.error):
            self._note(f"a damaged entry of the cache in {self._folder} is not used")
            return None
        if aged:
            # What is in use is the last to go when the folder is full.
            with contextlib.suppress(OSError):
                os.utime(path)
        return outcome

    def put(self, file: FileData, outcome: Outcome) -> None:
        """Keep what became of an input, unless it might be otherwise another time."""
        if not self._writable or not outcome.repeatable:
            return
        text = outcome_text(outcome).encode()
        data = zlib.compress(text, 1)
        if len(text) > MAX_TEXT_BYTES or len(data) > self._max_bytes // 4:
            return
        try:
            if not self._wrote:
                self._prepare()
            self._write(self._path(file), data)
            self._wrote = True
        except OSError as error:
            self._writable = False
            self._note(f"cannot write to the cache in {self._folder}: {error.strerror}")

    def keep(self, path: str, data: bytes) -> None:
        """Keep an entry whose path and contents were made elsewhere; nothing where it cannot be written."""
        if self._writable:
            with contextlib.suppress(OSError):
                self._prepare()
                self._write(path, data)
                self._wrote = True

    def close(self) -> None:
        """Bring the folder down to its size, the entries first that were not used for longest."""
        if not self._wrote:
            return
        entries = list(self._entries())
        excess = sum(size for _, size, _ in entries) - self._max_bytes
        if excess <= 0:
            return
        # Some room, so that not every run has to do this.
        excess += self._max_bytes // 4
        for _, size, path in sorted(entries):
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
            excess -= size

    def _entries(self) -> Iterator[tuple[float, int, str]]:
        """When each entry was used, its bytes, and its path. What has another form of name is not an entry,
        and links are not followed: a folder that came with somebody's files may hold anything.
        """
        with contextlib.suppress(OSError), os.scandir(os.path.join(self._folder, _ENTRIES)) as folders:
            for folder in folders:
                if not re.fullmatch(_FOLDER, folder.name) or not folder.is_dir(follow_symlinks=False):
                    continue
                with contextlib.suppress(OSError), os.scandir(folder) as files:
                    for file in files:
                        if re.fullmatch(_ENTRY, file.name) and file.is_file(follow_symlinks=False):
                            status = file.stat(follow_symlinks=False)
                            yield status.st_mtime, status.st_size, file.path

    def _path(self, file: FileData) -> str:
        # Each with its length: a path may hold what looks like the rest of another one's key.
        parts = [part.encode(errors="surrogateescape") for part in (self._base, file.path, file.kind)]
        digest = hashlib.sha256(f"{[len(part) for part in parts]} {file.named}\n".encode())
        for part in (*parts, file.data):
            digest.update(part)
        key = digest.hexdigest()
        return os.path.join(self._folder, _ENTRIES, key[:2], key[2:])

    def _is_ours(self) -> bool:
        """Whether the folder may be used: it is not there, or empty, or says that it is such a cache."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return True
        except OSError as error:
            self._note(f"cannot use the cache in {self._folder}: {error.strerror}")
            return False
        try:
            tag = read_regular(os.path.join(self._folder, _TAG), _MAX_TAG_BYTES, beneath=self._folder)
            return self._ours_if(tag == _TAG_TEXT.encode())
        except OSError:
            # Another run may be about to write the tag: what it writes until then begins with a dot.
            return self._ours_if(all(name.startswith(".") for name in names))

    def _ours_if(self, ours: bool) -> bool:
        if not ours:
            self._note(f"{self._folder} is not empty and not a cache of relax-lint: not used")
        return ours

    def _prepare(self) -> None:
        os.makedirs(self._folder, exist_ok=True)
        for name, text in ((_TAG, _TAG_TEXT), (".gitignore", "*\n")):
            path = os.path.join(self._folder, name)
            if not os.path.exists(path):
                self._write(path, text.encode())

    def _write(self, path: str, data: bytes) -> None:
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        if folder != self._folder and any(map(os.path.islink, (folder, os.path.dirname(folder)))):
            raise OSError(errno.ELOOP, "it holds a link to another folder")
        import tempfile

        descriptor, temporary = tempfile.mkstemp(prefix=_NEW, dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _note(self, problem: str) -> None:
        self.problem = self.problem or problem
