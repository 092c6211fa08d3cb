"""The result model as JSON values and back. Decoding follows the declared types of the dataclasses and
nothing that the data says, so that data from a process that read untrusted files is safe to decode.

Both ends are the same version of the tool: a dataclass is the list of its fields in order. A large module
has tens of thousands of fields to carry, so what is plain already is passed through without a call, and
many objects of one class are a table: each column holds its distinct values once.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
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
_COLUMNS = "columns"
_LEAST_ROWS = 8
_MOST_CELLS = 4_000_000
"""Of one table: a value that every row shares is written once and held by each."""


def encode(value: Any) -> Any:
    """A JSON value for a dataclass, enum member, tuple, mapping or plain value of the result model."""
    if type(value) in _AS_IS:
        return value
    if isinstance(value, tuple):
        return _encode_all(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        # TVM's strings are a subclass that stays one under `str()`.
        return str.__str__(value)
    if isinstance(value, Mapping):
        return [[encode(key), encode(item)] for key, item in value.items()]
    values = _getter(value.__class__)(value)
    return [item if type(item) in _AS_IS else encode(item) for item in values]


def _encode_all(values: Sequence[Any]) -> Any:
    """A list with a value for each; a table of many objects of one class."""
    kinds = set(map(type, values))
    if kinds <= _AS_IS:
        return list(values)
    if len(values) >= _LEAST_ROWS and len(kinds) == 1 and is_dataclass(kind := kinds.pop()):
        return {_COLUMNS: _columns(list(zip(*map(_getter(kind), values), strict=True)))}
    return [encode(value) for value in values]


def _columns(columns: Sequence[Sequence[Any]]) -> list[Any]:
    first, *others = map(_column, columns)
    # It tells how many rows there are.
    return [[first[0], [0] * len(columns[0])] if len(first) == 1 else first, *others]


def _column(values: Sequence[Any]) -> list[Any]:
    """The values in which rows differ and, for each row, the number of its own (None: in their order); a
    value that all share alone.
    """
    kinds = set(map(type, values))
    if len(kinds) == 1 and not any(values) and float not in kinds:
        # Of most fields there is nothing to tell.
        return [_encode_all(values[:1])]
    keys = values if kinds == {str} else list(map(id, values))
    distinct = dict(zip(keys, values, strict=True))
    if len(distinct) == 1:
        return [_encode_all(values[:1])]
    if 2 * len(distinct) > len(values):
        return [_encode_all(values), None]
    numbers = dict(zip(distinct, range(len(distinct)), strict=True))
    return [_encode_all(list(distinct.values())), list(map(numbers.__getitem__, keys))]


def decode(cls: type[T], data: Any) -> T:
    """The `cls` that `encode` made `data` of. Raises ValueError for data of another form; a dataclass may
    refuse values with a method `check_decoded`.
    """
    form: _Form = _form(cls)  # type: ignore[arg-type]
    result: T = form.read(data)
    return result


@dataclass(frozen=True)
class _Form:
    """How values of one declared type look: values of the types `as_is` stand for themselves, `convert` makes
    a value of any other data or raises ValueError. `table` makes objects of the columns of a table.
    """

    as_is: frozenset[type]
    convert: Callable[[Any], Any]
    table: Callable[[list[Any]], tuple[Any, ...]] | None = None

    def read(self, data: Any) -> Any:
        return data if type(data) in self.as_is else self.convert(data)


@cache
def _form(cls: Any) -> _Form:
    if cls in _PLAIN:
        return _Form(frozenset((cls,)), _refuse)
    origin, arguments = get_origin(cls), get_args(cls)
    if origin in (Union, types.UnionType):
        inner = [argument for argument in arguments if argument is not _NOTHING]
        if len(inner) == 1:
            form = _form(inner[0])
            return _Form(form.as_is | {_NOTHING}, form.convert, form.table)
    elif origin is tuple:
        return _Form(frozenset(), _sequence(_form(arguments[0])))
    elif origin is Mapping:
        return _Form(frozenset(), _mapping(_form(arguments[0]), _form(arguments[1])))
    elif isinstance(cls, type) and issubclass(cls, Enum):
        return _Form(frozenset(), cls)
    elif is_dataclass(cls):
        plan = _plan(cls)
        return _Form(frozenset(), _record(cls, plan), _table(cls, plan))
    raise TypeError(f"the result model has no place for {cls}")


def _refuse(data: Any) -> Any:
    raise ValueError(f"not of the declared type: {data!r:.60}")


def _sequence(item: _Form) -> Callable[[Any], tuple[Any, ...]]:
    as_is, convert, table = item.as_is, item.convert, item.table

    def read(data: Any) -> tuple[Any, ...]:
        if table is not None and isinstance(data, dict):
            return table(_list(data.get(_COLUMNS)))
        if as_is.issuperset(map(type, _list(data))):
            return tuple(data)
        return tuple([each if type(each) in as_is else convert(each) for each in data])

    return read


def _mapping(key: _Form, item: _Form) -> Callable[[Any], Any]:
    return lambda data: {_key(key.read(one)): item.read(other) for one, other in map(_list, _list(data))}


def _key(key: Any) -> Any:
    # Integers without a bound can all be made to have one hash, and a table of them takes for ever.
    if type(key) is int and not -_MAX_KEY <= key <= _MAX_KEY:
        raise ValueError("not a key of 64 bits")
    return key


def _plan(cls: Any) -> list[_Form]:
    """The form of each field."""
    hints = get_type_hints(cls)
    return [_form(hints[field.name]) for field in fields(cls)]


def _record(cls: Any, plan: list[_Form]) -> Callable[[Any], Any]:
    steps = [(form.as_is, form.convert) for form in plan]
    made = _maker(cls)

    def convert(data: Any) -> Any:
        if len(_list(data)) != len(steps):
            raise ValueError(f"not the fields of {cls.__name__}")
        pairs = zip(data, steps, strict=True)
        return made(*[value if type(value) in as_is else read(value) for value, (as_is, read) in pairs])

    return convert


def _table(cls: Any, plan: list[_Form]) -> Callable[[list[Any]], tuple[Any, ...]]:
    readers = [_sequence(form) for form in plan]
    made = _maker(cls)

    def convert(data: list[Any]) -> tuple[Any, ...]:
        if not data or len(data) != len(readers):
            raise ValueError(f"not the columns of {cls.__name__}")
        first = _cells(data[0], readers[0], None)
        if len(first) * len(readers) > _MOST_CELLS:
            raise ValueError("a table that is too large")
        others = [
            _cells(column, read, len(first)) for column, read in zip(data[1:], readers[1:], strict=True)
        ]
        return tuple(map(made, first, *others))

    return convert


def _maker(cls: Any) -> Callable[..., Any]:
    """The class, with its own check of what was decoded if it has one."""
    check = getattr(cls, "check_decoded", None)
    if check is None:
        made: Callable[..., Any] = cls
        return made

    def checked(*values: Any) -> Any:
        value = cls(*values)
        check(value)
        return value

    return checked


def _cells(column: Any, read: Callable[[Any], tuple[Any, ...]], rows: int | None) -> Sequence[Any]:
    """The values of a column, one for each of so many rows (None: it tells how many there are)."""
    match column:
        case [shared] if rows is not None:
            cells: Sequence[Any] = read(shared) * rows if len(_list(shared)) == 1 else ()
        case [values, None]:
            cells = read(values)
        case [values, list(numbers)]:
            cells = _numbered(read(values), numbers)
        case _:
            raise ValueError("not a column of a table")
    if rows is not None and len(cells) != rows:
        raise ValueError("the columns of a table have different lengths")
    return cells


def _numbered(values: Sequence[Any], numbers: list[Any]) -> Sequence[Any]:
    if not numbers:
        return ()
    if set(map(type, numbers)) != {int} or not 0 <= min(numbers) <= max(numbers) < len(values):
        raise ValueError("not the numbers of values")
    return list(map(values.__getitem__, numbers))


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
