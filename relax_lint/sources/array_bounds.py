"""Functions of numpy that make no more than a source text needs: the arguments tell, before it is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from relax_lint.sources.guards import is_endless
from relax_lint.sources.refusal import RefusedError

MAX_ELEMENTS = 1 << 24
_MAX_ITEM_BYTES = 4096


def _of_shape(*arguments: Any) -> float:
    """Elements of the largest shape or count among the arguments."""
    counts = [
        a if isinstance(a, int) else math.prod(a) if isinstance(a, list | tuple) else 1 for a in arguments
    ]
    return max(counts, default=1)


def _of_extents(*arguments: Any) -> float:
    return float(math.prod(arguments))


def _of_square(*arguments: Any) -> float:
    return max((a for a in arguments if isinstance(a, int)), default=1) ** 2


def _of_progression(start: Any = 0, stop: Any = None, step: Any = 1, *_: Any) -> float:
    if stop is None:
        start, stop = 0, start
    return float(abs((stop - start) / step))


def _of_arguments(*_: Any) -> float:
    return 1


_COUNTS: Mapping[str, Callable[..., float]] = {
    "empty": _of_shape,
    "eye": _of_square,
    "full": _of_shape,
    "identity": _of_square,
    "linspace": _of_shape,
    "ones": _of_shape,
    "zeros": _of_shape,
    "full_like": _of_shape,
    "ones_like": _of_shape,
    "zeros_like": _of_shape,
    "random.rand": _of_extents,
    "random.randn": _of_extents,
    "random.random": _of_shape,
    "random.normal": _of_shape,
    "random.randint": _of_shape,
    "random.uniform": _of_shape,
    **dict.fromkeys(
        ("abs", "array", "asarray", "ceil", "cos", "exp", "floor", "log", "power", "prod", "sin", "sqrt"),
        _of_arguments,
    ),
    **dict.fromkeys(("tan", "tanh", "transpose"), _of_arguments),
}
_SIZES = ("shape", "size", "num", "N", "M")


def bounded_functions(resolve: Callable[[str], Any]) -> dict[str, Callable[..., Any]]:
    """The functions by dotted names; `resolve` gives numpy's own."""
    names = (*_COUNTS, "arange")
    return {f"numpy.{name}": _bounded(f"numpy.{name}", resolve) for name in names}


def _bounded(name: str, resolve: Callable[[str], Any]) -> Callable[..., Any]:
    def construct(*args: Any, **kwargs: Any) -> Any:
        check_arguments(name, (*args, *kwargs.values()))
        if _elements(name, args, kwargs) > MAX_ELEMENTS:
            raise RefusedError(f"`{name}` of more than {MAX_ELEMENTS} elements")
        return resolve(name)(*args, **kwargs)

    return construct


def _elements(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> float:
    if name == "numpy.arange":
        given = {**dict(zip(("start", "stop", "step"), args, strict=False)), **kwargs}
        return _of_progression(given.get("start", 0), given.get("stop"), given.get("step", 1))
    counted = _COUNTS[name.removeprefix("numpy.")](*args, *(kwargs[key] for key in _SIZES if key in kwargs))
    arrays = _of_arrays((*args, *kwargs.values()))
    # Each element of a bound begins or ends a row of its own.
    return counted * arrays if name == "numpy.linspace" else max(counted, arrays)


def _of_arrays(values: Sequence[Any]) -> float:
    """Elements of what arrays become together."""
    try:
        together = math.prod(np.broadcast_shapes(*(v.shape for v in values if isinstance(v, np.ndarray))))
    except ValueError:
        together = 1
    return max(together, *(_inside(v) for v in values), 1)


def _inside(value: Any) -> float:
    if isinstance(value, np.ndarray):
        return float(value.size)
    return sum(map(_inside, value)) if isinstance(value, list | tuple) else 1


def check_arguments(name: str, values: Sequence[Any]) -> None:
    """Refuse an element type that is large itself, and a value that has items without an end."""
    for value in values:
        if is_endless(value):
            raise RefusedError(f"`{name}` of a tensor that has no end")
        if isinstance(value, str | np.dtype) and _item_bytes(value) > _MAX_ITEM_BYTES:
            raise RefusedError(f"`{name}` of elements of more than {_MAX_ITEM_BYTES} bytes")


def _item_bytes(dtype: Any) -> int:
    try:
        return int(np.dtype(dtype).itemsize)
    except (TypeError, ValueError, SyntaxError):
        return 0


def check_index(array: Any, index: Any) -> None:
    """Refuse a selection that is much larger than what it is taken from."""
    parts = index if isinstance(index, tuple) else (index,)
    chosen = [np.shape(part) for part in parts if isinstance(part, np.ndarray | list)]
    if not chosen:
        return
    try:
        many = math.prod(np.broadcast_shapes(*chosen))
    except ValueError:
        return
    if many * math.prod(array.shape[len(parts) :]) > MAX_ELEMENTS:
        raise RefusedError(f"an array of more than {MAX_ELEMENTS} elements")
