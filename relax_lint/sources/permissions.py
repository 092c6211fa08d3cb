"""What may be done with a value while a unit is parsed: decided by its type and identity, never by a name.

The second of two layers. The first, the gate, reads the text and knows no values; this one knows values and
reads no text. Everything that is not on a list is refused with RefusedError.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import tvm

from relax_lint.sources.array_bounds import MAX_ELEMENTS, check_arguments, check_index
from relax_lint.sources.facade import Marker, Namespace, OmittedConstants, is_handed_out, origin_of
from relax_lint.sources.guards import Interpreted
from relax_lint.sources.literal import is_large, weight
from relax_lint.sources.names import IR, RELAX, TIR
from relax_lint.sources.refusal import RefusedError
from relax_lint.sources.vocabulary import (
    ARRAY_ATTRIBUTES,
    CALLABLE_TYPES,
    INDEXED_TYPES,
    ITERATED_TYPES,
    NODE_ATTRIBUTES,
    NODE_TYPES,
    REFUSED_TYPES,
)

_MAX_ITEMS = 65536
_NUMBERS = (bool, int, float)
_TEXT = (str, bytes)
_PLAIN = (type(None), *_NUMBERS, *_TEXT)
_CONTAINERS = (list, tuple, dict, range, slice, enumerate)
_ARRAYS = (np.ndarray, np.generic)
_ARRAY_INFO = (np.dtype, np.finfo, np.iinfo)
_OF_EXPRESSIONS = (f"{RELAX}.", f"{TIR}.", f"{IR}.", "tvm.ir.", "tvm.tir.", "tvm.topi.")


def refuse(reason: str) -> None:
    """Stop the evaluation. Every decision of this module ends here: a test can switch the layer off."""
    raise RefusedError(reason)


class Method:
    """A method that was read from a value under a (type, attribute) pair that is on a list."""

    __slots__ = ("_bound",)

    def __init__(self, bound: Callable[..., Any]) -> None:
        self._bound = bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        return self._bound(*args, **kwargs)


def name_of(value: object) -> str:
    """The type of a value, for messages: an address or a representation would be meaningless."""
    return type(value).__qualname__


def _classes(paths: Iterable[str]) -> tuple[type, ...]:
    """The classes of these dotted names that are there in this TVM and loaded."""
    found = []
    for path in paths:
        module, _, name = path.rpartition(".")
        value = getattr(sys.modules.get(module), name, None)
        if isinstance(value, type):
            found.append(value)
    return tuple(found)


_NODES: dict[tuple[type, ...], frozenset[str]] = {}
_LISTS: dict[str, tuple[type, ...]] = {}
_READABLE: dict[type, frozenset[str]] = {}
_KINDS: dict[tuple[str, type], bool] = {}


def _listed(key: str, paths: Iterable[str]) -> tuple[type, ...]:
    if key not in _LISTS:
        _LISTS[key] = _classes(paths)
    return _LISTS[key]


def readable(kind: type) -> frozenset[str]:
    """The attributes that may be read of values of a type."""
    if kind not in _READABLE:
        _READABLE[kind] = _readable(kind)
    return _READABLE[kind]


def _readable(kind: type) -> frozenset[str]:
    for name, group in (("array", _ARRAYS), ("array_info", _ARRAY_INFO)):
        if issubclass(kind, group):
            return ARRAY_ATTRIBUTES[name]
    if issubclass(kind, (*_TEXT, type, *_CONTAINERS)) or _is_refused_kind(kind):
        return frozenset()
    names: set[str] = set()
    for family, paths in NODE_TYPES.items():
        if issubclass(kind, _classes(paths)):
            names |= NODE_ATTRIBUTES[family]
    return frozenset(names)


def _is_refused_kind(kind: type) -> bool:
    return issubclass(kind, _listed("refused", REFUSED_TYPES))


def read(value: Any, name: str) -> Any:
    """`value.name`."""
    kind = type(value)
    if kind is Namespace:
        if name.startswith("_"):
            refuse(f"the attribute `{name}`")
        return getattr(value, name)
    if kind.__name__ == "ModuleWithGlobalVars" and kind.__module__.startswith("tvm."):
        # The module under way: its functions, and nothing else that the object has.
        if name not in vars(value) and (name.startswith("__") or hasattr(kind, name)):
            refuse(f"the attribute `{name}` of a module")
        return getattr(value, name)
    if name not in readable(kind):
        refuse(f"the attribute `{name}` of a `{name_of(value)}`")
    found = getattr(value, name)
    return Method(found) if callable(found) and not _is_node(found) else found


def _is_node(value: object) -> bool:
    return isinstance(value, tvm.runtime.Object) and not _is_refused_kind(type(value))


def _of_kind(purpose: str, kind: type, paths: Iterable[str], *more: type) -> bool:
    key = (purpose, kind)
    if key not in _KINDS:
        _KINDS[key] = issubclass(kind, (*more, *_classes(paths))) and not _is_refused_kind(kind)
    return _KINDS[key]


def call(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """`function(*args, **kwargs)`."""
    if not may_be_called(function):
        refuse(f"a call of a `{name_of(function)}`")
    for value in (*args, *kwargs.values()):
        check_value(value)
    if (
        len(args) == 1
        and args[0] is None
        and not kwargs
        and (origin_of(function) or "").startswith(_OF_EXPRESSIONS)
    ):
        # TVM does not look, and the process dies.
        raise TypeError("None in place of an expression")
    if type(function) is Method:
        check_arguments("a method", (*args, *kwargs.values()))
    result = function(*args, **kwargs)
    check_value(result)
    return result


def may_be_called(function: Any) -> bool:
    """Whether a value is a function that was handed out, or a TVM node that represents a call."""
    kind = type(function)
    if kind in (Method, Marker, OmittedConstants) or isinstance(function, Interpreted):
        return True
    return is_handed_out(function) or _of_kind("call", kind, CALLABLE_TYPES)


def check_value(value: Any) -> None:
    """Refuse a value that nothing in a text can have: a foreign object, an array of objects, a long range."""
    if not _is_known(value):
        refuse(f"a value of the type `{name_of(value)}`")
    if type(value) is range and value[_MAX_ITEMS:]:
        refuse(f"a range of more than {_MAX_ITEMS} numbers")
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        refuse("an array of objects")


def _is_known(value: Any) -> bool:
    kind = type(value)
    if kind in _PLAIN or kind in _CONTAINERS or kind in (Namespace, Marker, Method, OmittedConstants):
        return True
    key = ("known", kind)
    if key not in _KINDS:
        _KINDS[key] = _is_known_kind(kind)
    return _KINDS[key] or is_handed_out(value)


def _is_known_kind(kind: type) -> bool:
    if issubclass(kind, (*_ARRAYS, *_ARRAY_INFO, Interpreted, TypeVar)):
        return True
    if not kind.__module__.startswith(("tvm.", "tvm_ffi.")) or _is_refused_kind(kind):
        return False
    return not issubclass(kind, type)


def item(value: Any, index: Any) -> Any:
    """`value[index]`."""
    kind = type(value)
    allowed = _of_kind("index", kind, INDEXED_TYPES, list, tuple, dict, range, str, *_ARRAYS)
    if not allowed and kind is not OmittedConstants:
        refuse(f"an item of a `{name_of(value)}`")
    if isinstance(value, np.ndarray):
        check_index(value, index)
    return value[index]


def iterated(value: Any) -> Iterable[Any]:
    """`value`, to be walked through."""
    kind = type(value)
    allowed = _of_kind("iterate", kind, ITERATED_TYPES, list, tuple, dict, range, str, enumerate, *_ARRAYS)
    # A node that cannot be iterated at all says so itself.
    if not allowed and (hasattr(kind, "__iter__") or hasattr(kind, "__getitem__") or not _is_known(value)):
        refuse(f"an iteration over a `{name_of(value)}`")
    return cast(Iterable[Any], value)


def check_operands(operator: str, operands: Sequence[Any]) -> None:
    """Refuse an operation on foreign objects, and one whose result would be too large."""
    for value in operands:
        check_value(value)
    if len(operands) != 2:
        return
    left, right = operands
    if isinstance(left, _TEXT) and operator == "Mod":
        refuse("string formatting")
    if operator in ("Pow", "LShift"):
        _check_growth(operator, left, right)
    if operator == "Mult":
        _check_repetition(left, right)
        _check_repetition(right, left)
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        _check_arrays(left, right)


def _check_growth(operator: str, left: Any, right: Any) -> None:
    if not isinstance(right, int) or isinstance(left, float):
        return
    bits = abs(left).bit_length() if isinstance(left, int) else 1
    growth = abs(right) * max(bits, 1) if operator == "Pow" else abs(right)
    if growth > _MAX_GROWTH and not (operator == "Pow" and bits <= 1):
        refuse("a number that is too large to compute")


_MAX_GROWTH = 512


def _check_repetition(sequence: Any, count: Any) -> None:
    if not isinstance(sequence, (*_TEXT, list, tuple)) or not isinstance(count, int):
        return
    size = len(sequence) if isinstance(sequence, _TEXT) else weight(sequence)
    if size * count > _MAX_ITEMS:
        refuse("a repetition that is too long")


def _check_arrays(left: Any, right: Any) -> None:
    shapes = [np.shape(value) for value in (left, right) if isinstance(value, (*_ARRAYS, *_NUMBERS))]
    if math.prod(max(extents) for extents in _aligned(shapes)) > MAX_ELEMENTS:
        refuse(f"an array of more than {MAX_ELEMENTS} elements")


def _aligned(shapes: list[tuple[int, ...]]) -> Iterable[tuple[int, ...]]:
    rank = max((len(shape) for shape in shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return zip(*padded, strict=True)


def bounded(value: Any) -> Any:
    """`value`, unless it is larger than anything a source text needs."""
    if is_large(value):
        refuse("a value that is too large to compute")
    if isinstance(value, list | tuple | dict) and weight(value) > _MAX_ITEMS:
        refuse("a value that is too large to compute")
    return value


def formatted(value: Any, conversion: int) -> str:
    """`f"{value}"` of a plain value."""
    if type(value) not in (*_NUMBERS, str, type(None)):
        refuse(f"a `{name_of(value)}` in a string")
    text = repr(value) if conversion in (ord("r"), ord("a")) else str(value)
    return cast(str, bounded(text))


def truth(value: Any) -> bool:
    """`bool(value)`."""
    check_value(value)
    return bool(value)
