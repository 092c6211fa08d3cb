"""The Python world that TVM's parser sees: stand-ins that offer only the vocabulary.

The gate has already refused everything unknown; these objects make sure that a text which slips through it
still finds no module, no builtin and no function beyond the vocabulary.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from relax_lint.sources.array_bounds import bounded_functions
from relax_lint.sources.guards import GUARDS, is_endless
from relax_lint.sources.names import IR, RELAX, SHAPE_CODES, TIR, Offer, canonical, offer
from relax_lint.sources.refusal import RefusedError

_MAX_ITEMS = 65536


class Marker:
    """Stands for a decorator: TVM's parser only asks which dialect the decorated function is written in."""

    def __init__(self, dispatch_token: str) -> None:
        self.dispatch_token = dispatch_token

    def __call__(self, *args: object, **kwargs: object) -> Marker:
        """The decorator with arguments: those are read off the syntax tree."""
        return self


_MARKERS = {
    RELAX + ".function": Marker("relax"),
    TIR + ".prim_func": Marker("tirx"),
    IR + ".pyfunc": Marker("pyfunc"),
    IR + ".ir_module": Marker("ir"),
}


class Namespace:
    """The offered names below one canonical dotted name; looked up in TVM when they are first used."""

    def __init__(self, dotted: str) -> None:
        object.__setattr__(self, "_dotted", dotted)

    def __getattr__(self, name: str) -> Any:
        dotted = canonical(f"{self._dotted}.{name}")
        value = lookup(dotted)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        raise RefusedError(f"an assignment to `{self._dotted}.{name}`")


# The functions and classes that a text was given, by identity; kept alive, so that no other object can take
# the place of one.
_HANDED_OUT: dict[int, tuple[Any, str]] = {}


def origin_of(value: object) -> str | None:
    """The dotted name under which the vocabulary offers this very function or class; None for all others."""
    found = _HANDED_OUT.get(id(value))
    return found[1] if found is not None and found[0] is value else None


def is_handed_out(value: object) -> bool:
    """Whether a value is a function or class that the vocabulary offers."""
    return origin_of(value) is not None


def _hand_out(value: Any, dotted: str) -> Any:
    if callable(value):
        _HANDED_OUT.setdefault(id(value), (value, dotted))
    return value


@cache
def lookup(dotted: str) -> Any:
    """The object of a canonical dotted name.

    Raises AttributeError for a name that this TVM does not have, RefusedError for one that may not be used.
    """
    value = _found(dotted)
    if (guard := GUARDS.get(dotted)) is not None:
        value = guard(value, origin_of)
    return _hand_out(value, dotted)


def _found(dotted: str) -> Any:
    if dotted in _MARKERS:
        return _MARKERS[dotted]
    found = offer(dotted)
    if found is Offer.REFUSED:
        raise RefusedError(f"`{dotted}`")
    if found is Offer.NAMESPACE:
        return Namespace(dotted)
    if found is Offer.UNKNOWN:
        raise AttributeError(f"TVMScript has no name `{_spoken(dotted)}`")
    if dotted in _BOUNDED:
        return _BOUNDED[dotted]
    return _resolve(dotted)


def _spoken(dotted: str) -> str:
    for root, letter in ((RELAX, "R"), (TIR, "T"), (IR, "I")):
        if dotted.startswith(root + "."):
            return letter + dotted[len(root) :]
    return dotted


def _resolve(dotted: str) -> Any:
    for root, module in (
        (RELAX, "tvm.script.parser.relax"),
        (TIR, "tvm.script.tirx"),
        (IR, "tvm.script.parser.ir"),
        ("tvm.tir", "tvm.tirx"),
        ("tvm.topi", "tvm.topi"),
        (SHAPE_CODES, SHAPE_CODES),
    ):
        if dotted.startswith(root + "."):
            return _member(importlib.import_module(module), dotted[len(root) + 1 :], dotted)
    first, rest = dotted.split(".", 1)
    return _member(importlib.import_module(first), rest, dotted)


def _member(module: Any, path: str, dotted: str) -> Any:
    value = module
    for part in path.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            raise AttributeError(f"TVM has no name `{_spoken(dotted)}`") from None
    if type(value).__name__ == "module":
        raise RefusedError(f"the module `{dotted}`")
    return value


def _repeat_refused(*args: object, **kwargs: object) -> None:
    raise RefusedError("`numpy.tile`")


class UnknownValueError(Exception):
    """The text needs a value that it does not contain; the message says which."""


def _array_function(dotted: str) -> Any:
    """A function of numpy; what makes other elements in each run is not called."""
    if not dotted.startswith("numpy.random."):
        return _resolve(dotted)

    def refuse(*args: object, **kwargs: object) -> None:
        raise UnknownValueError(f"the value of `{dotted}` is unknown: it is another one in each run")

    return refuse


_BOUNDED: dict[str, Any] = {
    **bounded_functions(_array_function),
    "numpy.tile": _repeat_refused,
}


class OmittedConstants:
    """`metadata` of a printed module that was printed without it."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __call__(self, shape: Any, dtype: str, name: str) -> Any:
        """The constant with a name, of the type that the printer left of it: all zeros, marked as omitted."""
        if name not in self._made:
            extents = [int(extent) for extent in shape]
            zeros = lookup("numpy.zeros")(extents, "float32")
            mark = importlib.import_module("relax_lint.vm.constants").mark_omitted
            self._made[name] = mark(_resolve("tvm.relax.const")(zeros, dtype))
        return self._made[name]

    def __getitem__(self, group: str) -> Any:
        """Raises UnknownValueError: nothing in the text tells the type."""
        raise UnknownValueError(
            "a constant that TVM's printer omitted, and whose type the text does not show; "
            "print the module with `show_meta=True`"
        )


def tensor_field(operator: str, *operands: Any) -> Any:
    """The call that reads a field of a tensor's header (`relax.inspect.*`)."""
    call = _resolve("tvm.relax.Call")
    return call(importlib.import_module("tvm.ir").Op.get(f"relax.inspect.{operator}"), list(operands))


_hand_out(tensor_field, "relax.inspect")


def _bounded_sequence(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if "key" in kwargs:
            raise RefusedError(f"a function that `{function.__name__}` would call")
        # `max(a, b)` walks through neither; of more arguments the first is walked through by all others.
        walked = args[: 0 if function in (min, max) and len(args) > 1 else 1]
        first = [_bounded_items(function.__name__, value) for value in walked]
        return function(*first, *args[len(first) :], **kwargs)

    return call


def _bounded_items(name: str, value: Any) -> Any:
    """What a function may walk through. A tensor of `tvm.te` has items without end, and no length."""
    if is_endless(value):
        raise RefusedError(f"`{name}` of a tensor that has no end")
    if isinstance(value, range | list | tuple | str) and len(value) > _MAX_ITEMS:
        raise RefusedError(f"`{name}` of more than {_MAX_ITEMS} items")
    return value


# The whole of Python that an evaluated expression can reach. `int` and `float` stay classes: TVM's parser
# compares annotations with them.
BUILTINS: Mapping[str, Any] = {
    "range": range,
    "float": float,
    "int": int,
    "bool": bool,
    "len": len,
    "abs": abs,
    "min": _bounded_sequence(min),
    "max": _bounded_sequence(max),
    "sum": _bounded_sequence(sum),
    "list": _bounded_sequence(list),
    "tuple": _bounded_sequence(tuple),
    "enumerate": _bounded_sequence(enumerate),
}
for _name, _function in BUILTINS.items():
    _hand_out(_function, f"builtins.{_name}")


# The packages that an expression of the surrounding file may start from.
ROOTS: Mapping[str, Namespace] = {name: Namespace(name) for name in ("tvm", "numpy", "math", "typing")}
