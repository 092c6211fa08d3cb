"""The weights of an ONNX model that lie in files beside it. What the model says of them is not believed: onnx
itself takes the working directory for the folder of a model without one in its name, and follows links.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from onnx import TensorProto

from relax_lint.support.regular_file import folder_of


class ForbiddenPlaceError(Exception):
    """Weights that are said to lie where a model may not have any read; the text says where."""


class MissingWeightsError(Exception):
    """Weights that are not where they are said to be; the text says why."""


def load_weights(model: Any, path: str) -> None:
    """Read the weights of a model in the file `path` that lie in other files. Every tensor of the model is
    looked at, wherever it stands, for whoever converts a tensor reads what is left. Raises the errors above.
    """
    folder = os.path.dirname(os.path.realpath(path))
    for tensor in _tensors(model):
        if tensor.data_location == TensorProto.EXTERNAL:
            tensor.raw_data = _read(folder, {entry.key: entry.value for entry in tensor.external_data})
            tensor.data_location = TensorProto.DEFAULT
            del tensor.external_data[:]


def _tensors(message: Any) -> Iterator[Any]:
    """Every tensor in a message, at any depth."""
    waiting = [message]
    while waiting:
        one = waiting.pop()
        if isinstance(one, TensorProto):
            yield one
            continue
        for field, value in one.ListFields():
            if field.message_type is not None:
                waiting += [value] if hasattr(value, "ListFields") else value


def _read(folder: str, said: dict[str, str]) -> bytes:
    location = said.get("location", "")
    parts = PurePosixPath(location).parts
    if not parts or location.startswith("/") or "\0" in location or os.pardir in parts:
        raise ForbiddenPlaceError(f"`{location}` is not inside the folder of the model")
    path = os.path.join(folder, *parts)
    try:
        with folder_of(path, folder) as (inside, name):
            before = os.stat(name, dir_fd=inside, follow_symlinks=False)
            if not stat.S_ISREG(before.st_mode):
                kind = "a link" if stat.S_ISLNK(before.st_mode) else "not a regular file"
                raise ForbiddenPlaceError(f"`{location}` is {kind}")
            descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=inside)
    except NotADirectoryError:
        raise ForbiddenPlaceError(f"`{location}` leads through a link or a file") from None
    except OSError as error:
        raise MissingWeightsError(f"`{location}`: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ForbiddenPlaceError(f"`{location}` is not a regular file")
        offset, length = _extent(location, said, status.st_size)
        file.seek(offset)
        return file.read(length)


def _extent(location: str, said: dict[str, str], size: int) -> tuple[int, int]:
    offset = _number(location, said.get("offset", "0"))
    length = _number(location, said["length"]) if "length" in said else size - offset
    if length < 0 or offset + length > size:
        raise MissingWeightsError(f"`{location}` has {size:,} bytes, fewer than the model declares")
    return offset, length


def _number(location: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        raise MissingWeightsError(f"`{location}` has no place `{text[:40]}`")
    return int(text)
