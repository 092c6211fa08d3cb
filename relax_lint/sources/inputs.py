"""Inputs: what is read of each, and how much of it."""

from __future__ import annotations

import sys
from dataclasses import field
from typing import BinaryIO

from relax_lint.sources.kinds import is_model
from relax_lint.support.errors import UserError
from relax_lint.support.lazy_dataclass import record
from relax_lint.support.regular_file import IrregularFileError, read_regular

MAX_BYTES = 32 << 20
MAX_JSON_BYTES = 512 << 20


class UnreadableError(UserError):
    """An input whose bytes cannot be had: the message says why, and not that they cannot."""


@record(frozen=True)
class Input:
    """One file, or standard input (`source` is None). `path` is the path to show, `named` whether the user
    named the file rather than a folder above it. `beneath` is the folder below which no link to the file is
    followed, None for a file that was named.
    """

    path: str
    kind: str
    source: str | None
    named: bool
    beneath: str | None = field(default=None, kw_only=True)

    def held(self) -> HeldInput:
        """The input together with its bytes. Raises UnreadableError."""
        return HeldInput(self.path, self.kind, self.source, self.named, self.read(), beneath=self.beneath)

    def read(self, stdin: BinaryIO | None = None) -> bytes:
        """The bytes; none of a model, which is read where it is imported. Raises UnreadableError for anything
        but a readable regular file of a bearable size.
        """
        model = is_model(self.kind)
        limit = MAX_JSON_BYTES if self.kind == "json" else MAX_BYTES
        if self.source is None:
            if model:
                raise UnreadableError("a model is read from a file, not from standard input")
            data = (stdin if stdin is not None else sys.stdin.buffer).read(limit + 1)
            return _within(data, limit)
        try:
            return read_regular(self.source, None if model else limit, beneath=self.beneath)
        except IrregularFileError as error:
            raise UnreadableError(error.strerror) from error
        except OSError as error:
            raise UnreadableError(error.strerror or str(error)) from error


@record(frozen=True)
class HeldInput(Input):
    """An input whose bytes are already in memory, as read or as edited."""

    data: bytes

    def read(self, stdin: BinaryIO | None = None) -> bytes:
        """The bytes."""
        return self.data


def _within(data: bytes, limit: int) -> bytes:
    if len(data) > limit:
        raise UnreadableError(f"larger than {limit >> 20} MiB")
    return data
