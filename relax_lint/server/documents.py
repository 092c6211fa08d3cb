"""Which documents are judged, as what, and with which configuration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from relax_lint.server.analyser import Text
from relax_lint.settings.config import Config
from relax_lint.sources.patterns import path_patterns
from relax_lint.sources.text import encode

_KINDS = {".py": "python", ".pyi": "python", ".md": "markdown"}
# A cell of a notebook is a document of its own, without the names of the other cells.
_SCHEMES = ("file", "untitled")


def text_of(document: TextDocument) -> Text | None:
    """A document as something to judge; None for what is not judged."""
    parts = urlsplit(document.uri)
    if parts.scheme not in _SCHEMES:
        return None
    path = to_fs_path(document.uri) if parts.scheme == "file" else None
    kind = _KINDS.get(os.path.splitext(path or "")[1].lower())
    if kind is None and document.language_id in ("python", "markdown"):
        kind = document.language_id
    if kind is None:
        return None
    return Text(path or unquote(parts.path) or "untitled", kind, encode(document.source))


def folder_of(path: str, roots: Sequence[str]) -> str:
    """The folder of whose configuration a file is judged: the innermost of the workspace's that holds it,
    else its own.
    """
    holding = [root for root in roots if path == root or path.startswith(root.rstrip(os.sep) + os.sep)]
    return max(holding, key=len, default=os.path.dirname(path) or ".")


def is_excluded(path: str, folder: str, config: Config) -> bool:
    """Whether a search of the folder would leave the file out."""
    if not config.exclude:
        return False
    relative = os.path.relpath(path, folder).replace(os.sep, "/")
    return path_patterns(config.exclude).match_file(relative)
