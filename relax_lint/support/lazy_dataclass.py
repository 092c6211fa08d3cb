"""Frozen dataclasses whose methods are written when they are first called.

`dataclasses` writes and compiles six methods for every frozen class while its module is imported, and of most
classes a run makes no instance: that was half of the time in which a command finds everything in its cache.
`fields`, `replace`, `match` and equality work as with the original.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from relax_lint.support.quick_init import constructor

__all__ = ["dataclass", "record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import dataclass as record
else:

    def dataclass(*, frozen: bool, eq: bool = True) -> Callable[[type], type]:
        """As `dataclasses.dataclass`, for frozen classes whose constructor sets every field."""
        assert frozen, "only frozen dataclasses are made so"
        return lambda cls: _made(cls, eq, guarded=True)

    def record(*, frozen: bool, eq: bool = True) -> Callable[[type], type]:
        """The same for what the engine makes by the thousand: only type checkers see to it that nothing is
        assigned to its fields. Python then keeps them in a third of the time, and without a dictionary.
        """
        assert frozen, "only frozen dataclasses are made so"
        return lambda cls: _made(cls, eq, guarded=False)


def _made(cls: type, eq: bool, *, guarded: bool) -> Any:
    derived = any(map(dataclasses.is_dataclass, cls.__mro__[1:]))
    if cls.__doc__ is None:
        # Else `dataclasses` asks for the signature of a constructor that is not there yet.
        cls.__doc__ = cls.__name__
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=derived)(cls)
    if not all(field.init for field in dataclasses.fields(made)):
        raise TypeError(f"{cls.__name__} has a field that its constructor does not set")
    # What a class that is derived from it is asked to be, too.
    made.__dataclass_params__.frozen = True
    for name in _GUARDS if derived else ():
        delattr(made, name)
    own = frozenset(vars(made))
    methods: dict[str, Any] = {"__init__": _initialiser(made, guarded=guarded), "__repr__": _represent}
    methods |= {**(_GUARDS if guarded else {}), **(_EQUALITY if eq else {})}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _initialiser(cls: Any, *, guarded: bool) -> Callable[..., None]:
    def __init__(self: Any, /, *arguments: Any, **named: Any) -> None:
        written = constructor(cls, guarded=guarded)
        cls.__init__ = written
        written(self, *arguments, **named)

    return __init__


def _represent(self: Any) -> str:
    cls = self.__class__
    shown = (field.name for field in dataclasses.fields(cls) if field.repr)
    return f"{cls.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def _equal(self: Any, other: Any) -> Any:
    cls = self.__class__
    if other.__class__ is not cls:
        return NotImplemented
    compared = _compared(cls)
    return compared(self) == compared(other)


def _hash(self: Any) -> int:
    return hash(_hashed(self.__class__)(self))


def _set(self: Any, name: str, value: Any) -> None:
    if name in _names(self.__class__):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    if name in _names(self.__class__):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


_GUARDS = {"__setattr__": _set, "__delattr__": _delete}
_EQUALITY = {"__eq__": _equal, "__hash__": _hash}


@cache
def _compared(cls: Any) -> Callable[[Any], Any]:
    return _values([field.name for field in dataclasses.fields(cls) if field.compare])


@cache
def _hashed(cls: Any) -> Callable[[Any], Any]:
    known = dataclasses.fields(cls)
    return _values([f.name for f in known if (f.compare if f.hash is None else f.hash)])


def _values(names: list[str]) -> Callable[[Any], Any]:
    """What gives these fields of an instance as one tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


@cache
def _names(cls: Any) -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(cls))
