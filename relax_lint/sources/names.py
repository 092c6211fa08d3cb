"""Dotted names: what an import refers to, and whether a TVMScript text may use it."""

from __future__ import annotations

import ast
from enum import Enum

from relax_lint.sources import vocabulary as v

RELAX, TIR, IR = "tvm.script.relax", "tvm.script.tir", "tvm.script.ir"
SHAPE_CODES = "tvm.relax.testing.runtime_builtin"

# The function that a dialect rule puts where a text reads a tensor's header. No text can spell it: the gate
# refuses the name.
TENSOR_FIELD = "__tensor_field__"

# The spellings of one thing in the releases of TVM, longest first.
_CANONICAL = (
    ("tvm.script.parser.relax.entry", RELAX),
    ("tvm.script.parser.relax", RELAX),
    ("tvm.relax.script.parser.entry", RELAX),
    ("tvm.relax.script.parser", RELAX),
    ("tvm.relax.script", RELAX),
    ("tvm.script.parser.tirx", TIR),
    ("tvm.script.parser.tir", TIR),
    ("tvm.script.tirx", TIR),
    ("tvm.tirx.script.parser", TIR),
    ("tvm.tirx.script", TIR),
    ("tvm.script.parser.ir.entry", IR),
    ("tvm.script.parser.ir", IR),
    ("tvm.script.parser.ir_module", IR + ".ir_module"),
    ("tvm.script.ir_module", IR + ".ir_module"),
    ("tvm.script.s_tir", TIR),
    ("tvm.tirx", "tvm.tir"),
    ("tvm.nd.array", "tvm.runtime.tensor"),
    ("tvm.ir.VDevice", "tvm.relax.VDevice"),
)

# What a name means where nothing in the file binds it: printed modules carry their imports as comments.
DEFAULT_IMPORTS = {
    "I": IR,
    "ir": IR,
    "R": RELAX,
    "relax": RELAX,
    "T": TIR,
    "Ts": TIR,
    "tir": TIR,
    "tirx": TIR,
    "tvm": "tvm",
    "TypeVar": "typing.TypeVar",
}


class Offer(Enum):
    """What the vocabulary says about a dotted name."""

    VALUE = "value"
    NAMESPACE = "namespace"
    UNKNOWN = "unknown"
    REFUSED = "refused"


def canonical(dotted: str) -> str:
    """The one spelling under which the vocabulary knows a dotted name."""
    for spelling, name in _CANONICAL:
        if dotted == spelling or dotted.startswith(spelling + "."):
            return name + dotted[len(spelling) :]
    return dotted


def is_reserved(name: str) -> bool:
    """Whether a name belongs to Python or TVM: no text may bind or read it. Those of underscores only belong
    to nobody.
    """
    if not name.strip("_"):
        return False
    return name.startswith("__tvm") or (name.startswith("__") and name.endswith("__"))


def chain(node: ast.expr) -> tuple[str, tuple[str, ...]] | None:
    """`a.b.c` as ("a", ("b", "c")); None where the root is not a name."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return node.id, tuple(reversed(attributes))


def _below(dotted: str, prefix: str) -> list[str] | None:
    if dotted == prefix:
        return []
    return dotted[len(prefix) + 1 :].split(".") if dotted.startswith(prefix + ".") else None


def _grouped(rest: list[str], single: frozenset[str], groups: dict[str, frozenset[str]]) -> Offer:
    if not rest or (len(rest) == 1 and rest[0] in groups):
        return Offer.NAMESPACE
    if len(rest) == 1:
        return Offer.VALUE if rest[0] in single else Offer.UNKNOWN
    if len(rest) == 2 and rest[0] in groups:
        return Offer.VALUE if rest[1] in groups[rest[0]] else Offer.UNKNOWN
    return Offer.REFUSED


def _tir(rest: list[str]) -> Offer:
    if not rest or rest[0] in v.TIR_NAMESPACES:
        # The members of the intrinsic groups are looked up when they are used: they only build calls.
        return Offer.VALUE if len(rest) > 1 else Offer.NAMESPACE
    if len(rest) > 1:
        return Offer.REFUSED
    known = rest[0] in v.TIR_NAMES or v.TIR_DTYPE.fullmatch(rest[0])
    return Offer.VALUE if known else Offer.UNKNOWN


def _dotted(rest: list[str], words: frozenset[str]) -> Offer:
    name = ".".join(rest)
    if not rest or any(word.startswith(name + ".") for word in words):
        return Offer.NAMESPACE
    return Offer.VALUE if name in words else Offer.REFUSED


def offer(dotted: str) -> Offer:
    """Whether a canonical dotted name may be used.

    UNKNOWN is a name directly below `R`, `T` or `I` that TVM does not offer (or not any more): using it is
    an ordinary error of the text, not an attack. REFUSED is everything else that is not on the list.
    """
    if any(part.startswith("_") for part in dotted.split(".")):
        return Offer.REFUSED
    if (rest := _below(dotted, RELAX)) is not None:
        return _grouped(rest, v.RELAX_NAMES, dict(v.RELAX_NAMESPACES))
    if (rest := _below(dotted, TIR)) is not None:
        return _tir(rest)
    if (rest := _below(dotted, IR)) is not None:
        return _grouped(rest, v.IR_NAMES, {})
    if (rest := _below(dotted, "tvm.relax.op")) is not None:
        return _grouped(rest, v.RELAX_NAMES, dict(v.RELAX_NAMESPACES))
    if (rest := _below(dotted, SHAPE_CODES)) is not None:
        return _dotted(rest, v.SHAPE_CODE_NAMES)
    if (rest := _below(dotted, "tvm.relax")) is not None:
        found = _dotted(rest, v.RELAX_MODULE_NAMES)
        # `relax.dataflow` where `R.dataflow` was meant: a mistake, not an attack.
        meant = found is Offer.REFUSED and len(rest) == 1 and rest[0] in v.RELAX_NAMES
        return Offer.UNKNOWN if meant else found
    if (rest := _below(dotted, "tvm.tir")) is not None:
        return _dotted(rest, v.TIR_MODULE_NAMES)
    if (rest := _below(dotted, "tvm.topi")) is not None:
        found = _grouped(rest, v.TOPI_NAMES, {"nn": v.TOPI_NN_NAMES})
        return Offer.REFUSED if found is Offer.UNKNOWN else found
    if dotted == "tvm.script":
        return Offer.NAMESPACE
    if (rest := _below(dotted, "tvm")) is not None:
        return _dotted(rest, v.TVM_NAMES)
    if (rest := _below(dotted, "numpy")) is not None:
        return _dotted(rest, v.NUMPY_NAMES)
    if (rest := _below(dotted, "math")) is not None:
        return _dotted(rest, v.MATH_NAMES)
    if dotted == "typing.TypeVar":
        return Offer.VALUE
    return Offer.REFUSED
