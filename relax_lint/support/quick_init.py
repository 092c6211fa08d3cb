"""A faster constructor for frozen dataclasses that are made for every operation or every check.

The one that `dataclasses` writes for a frozen class calls `object.__setattr__` for each field, which costs
four times as much as storing the fields. Imports nothing of this tool.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from functools import wraps
from typing import Any, TypeVar

C = TypeVar("C")

_UNSET = object()
"""What a field with a factory has where no value was given."""


def quick_init(cls: type[C]) -> type[C]:
    """The frozen dataclass with a constructor of the same signature that stores its fields directly. It is
    written when the first object is made: a run that makes none does not pay for it.
    """
    if not all(field.init for field in fields(cls)):  # type: ignore[arg-type]
        raise TypeError(f"{cls.__name__} has a field that its constructor does not set")

    @wraps(vars(cls)["__init__"])
    def first(self: Any, /, *arguments: Any, **keywords: Any) -> None:
        made = constructor(cls)
        cls.__init__ = made  # type: ignore[method-assign]
        made(self, *arguments, **keywords)

    cls.__init__ = first  # type: ignore[method-assign, assignment]
    return cls


def maker(example: C) -> Callable[[], C]:
    """What makes objects like this one, whose maker may then change what each `__dict__` holds: of a class
    that stores its fields there and has no `__post_init__`. One copy, however many fields there are.
    """
    # A dictionary of an object shares its keys with others; to copy one of its own is five times as fast.
    fields_of_all = dict(**example.__dict__)
    cls, new = type(example), object.__new__

    def made() -> C:
        one = new(cls)
        one.__dict__.update(fields_of_all)
        return one

    return made


def constructor(cls: type[Any], *, guarded: bool = True) -> Callable[..., None]:
    """A constructor of a dataclass that stores the fields directly: in the `__dict__` of an object that is
    `guarded` against assignments.
    """
    known = fields(cls)
    namespace: dict[str, Any] = {"__unset__": _UNSET}
    positional = [_parameter(field, namespace) for field in known if not field.kw_only]
    keywords = [_parameter(field, namespace) for field in known if field.kw_only]
    if keywords:
        positional += ["*", *keywords]
    # Nothing here has a name that a field could have.
    begin = ["__stored__ = __self__.__dict__"] if guarded else ["pass"]
    lines = [*begin, *(_store(field, guarded) for field in known)]
    if hasattr(cls, "__post_init__"):
        lines.append("__self__.__post_init__()")
    body = "\n ".join(lines)
    # The text is made of the names of fields alone, and has a name: who watches what is compiled can tell it
    # from what a file makes the parser compile.
    text = f"def __init__(__self__, {', '.join(positional)}):\n {body}"
    exec(compile(text, f"<constructor of {cls.__qualname__}>", "exec"), namespace)
    made: Callable[..., None] = namespace["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {field.name: field.type for field in known} | {"return": None}
    return made


def _parameter(field: Field[Any], namespace: dict[str, Any]) -> str:
    """A parameter, with its default put into the namespace."""
    if field.default_factory is not MISSING:
        namespace[f"__make_{field.name}__"] = field.default_factory
        return f"{field.name}=__unset__"
    if field.default is MISSING:
        return field.name
    namespace[f"__default_{field.name}__"] = field.default
    return f"{field.name}=__default_{field.name}__"


def _store(field: Field[Any], guarded: bool) -> str:
    name = field.name
    place = f"__stored__[{name!r}]" if guarded else f"__self__.{name}"
    if field.default_factory is MISSING:
        return f"{place} = {name}"
    return f"{place} = __make_{name}__() if {name} is __unset__ else {name}"
