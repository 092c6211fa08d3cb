"""The kinds of input, by the endings of their names."""

from __future__ import annotations

import os

MODELS = {".onnx": "onnx", ".pt2": "pt2"}
"""The kinds that are read through TVM's frontends."""

_KINDS = {
    ".py": "python",
    ".pyi": "python",
    ".json": "json",
    ".ipynb": "notebook",
    ".md": "markdown",
    **MODELS,
}
_MODELS = frozenset(MODELS.values())

IN_FOLDERS = frozenset({".py", ".json", ".ipynb", ".md"})
"""What a search of folders takes. Everything else is read only when it is named."""


def kind_of(path: str) -> str:
    """What a file is read as."""
    if path.endswith(".py"):
        return "python"
    return _KINDS.get(os.path.splitext(path)[1].lower(), "python")


def is_model(kind: str) -> bool:
    """Whether an input of this kind is a model: it is handed to the worker by its path."""
    return kind in _MODELS
