"""The result model as JSON values and back. Decoding follows the declared types of the dataclasses and
nothing that the data says, so that data from a process that read untrusted files is safe to decode.

Both ends are the same version of the tool: a dataclass is the list of its fields in order. A large module
has tens of thousands of fields to carry, so what is plain already is passed through without a call.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from relax_lint.support.lazy_dataclass import dataclass

T = TypeVar("T")
_NOTHING = type(None)
_MAX_KEY = 2**63
_PLAIN = frozenset((str, int, float, bool))
_AS_IS = _PLAIN | {_NOTHING}


def encode(value: Any) -> Any:
    """A JSON value for a dataclass, enum member, tuple, mapping or plain value of the result model."""
    if type(value) in _AS_IS:
        return value
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        # TVM's strings are a subclass that stays one under `str()`.
        return str.__str__(value)
    if isinstance(value, Mapping):
        return [[encode(key), encode(item)] for key, item in value.items()]
    values = _getter(value.__class__)(value)
    return [item if type(item) in _AS_IS else encode(item) for item in values]


def decode(cls: type[T], data: Any) -> T:
    """The `cls` that `encode` made `data` of. Raises ValueError for data of another form; a dataclass may
    refuse values with a method `check_decoded`.
    """
    result: T = _form_of(cls).read(data)
    return result


@dataclass(frozen=True)
class _Form:
    """How values of one declared type look: values of the types `as_is` stand for themselves, `convert` makes
    a value of any other data or raises ValueError.
    """

    as_is: frozenset[type]
    convert: Callable[[Any], Any]

    def read(self, data: Any) -> Any:
        return data if type(data) in self.as_is else self.convert(data)


def _form_of(cls: Any) -> _Form:
    return _form(cls)


@cache
def _form(cls: Any) -> _Form:
    if cls in _PLAIN:
        return _Form(frozenset((cls,)), _refuse)
    origin, arguments = get_origin(cls), get_args(cls)
    if origin in (Union, types.UnionType):
        inner = [argument for argument in arguments if argument is not _NOTHING]
        if len(inner) == 1:
            form = _form(inner[0])
            return _Form(form.as_is | {_NOTHING}, form.convert)
    elif origin is tuple:
        return _Form(frozenset(), _sequence(_form(arguments[0])))
    elif origin is Mapping:
        return _Form(frozenset(), _mapping(_form(arguments[0]), _form(arguments[1])))
    elif isinstance(cls, type) and issubclass(cls, Enum):
        return _Form(frozenset(), cls)
    elif is_dataclass(cls):
        return _Form(frozenset(), _record(cls))
    raise TypeError(f"the result model has no place for {cls}")


def _refuse(data: Any) -> Any:
    raise ValueError(f"not of the declared type: {data!r:.60}")


def _sequence(item: _Form) -> Callable[[Any], Any]:
    as_is, convert = item.as_is, item.convert
    return lambda data: tuple([each if type(each) in as_is else convert(each) for each in _list(data)])


def _mapping(key: _Form, item: _Form) -> Callable[[Any], Any]:
    return lambda data: {_key(key.read(one)): item.read(other) for one, other in map(_list, _list(data))}


def _key(key: Any) -> Any:
    # Integers without a bound can all be made to have one hash, and a table of them takes for ever.
    if type(key) is int and not -_MAX_KEY <= key <= _MAX_KEY:
        raise ValueError("not a key of 64 bits")
    return key


def _record(cls: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(cls)
    plan = [(form.as_is, form.convert) for form in (_form(hints[field.name]) for field in fields(cls))]

    def convert(data: Any) -> Any:
        if len(_list(data)) != len(plan):
            raise ValueError(f"not the fields of {cls.__name__}")
        pairs = zip(data, plan, strict=True)
        return cls(*[value if type(value) in as_is else read(value) for value, (as_is, read) in pairs])

    check = getattr(cls, "check_decoded", None)
    if check is None:
        return convert

    def convert_and_check(data: Any) -> Any:
        value = convert(data)
        check(value)
        return value

    return convert_and_check


@cache
def _getter(cls: Any) -> Callable[[Any], tuple[Any, ...]]:
    names = [field.name for field in fields(cls)]
    if len(names) == 1:
        # With one name `attrgetter` gives the value itself.
        return lambda value: (getattr(value, names[0]),)
    return attrgetter(*names)


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise ValueError(f"not a list: {data!r:.60}")
    return data
