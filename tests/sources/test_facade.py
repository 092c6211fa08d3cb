"""What the parser can reach at all, whatever the gate let through."""

from __future__ import annotations

import types

import pytest

from relax_lint.sources import vocabulary
from relax_lint.sources.facade import BUILTINS, ROOTS, Namespace, RefusedError, lookup
from relax_lint.sources.names import IR, RELAX, TIR

OFFERED = [
    *(f"{RELAX}.{name}" for name in vocabulary.RELAX_NAMES),
    *(f"{RELAX}.{group}.{name}" for group, names in vocabulary.RELAX_NAMESPACES.items() for name in names),
    *(f"{TIR}.{name}" for name in vocabulary.TIR_NAMES | {"int64", "float32x4", "float8_e4m3fn"}),
    *(f"{IR}.{name}" for name in vocabulary.IR_NAMES),
    *(f"tvm.topi.{name}" for name in vocabulary.TOPI_NAMES),
    *(f"tvm.topi.nn.{name}" for name in vocabulary.TOPI_NN_NAMES),
    *(f"tvm.tir.{name}" for name in vocabulary.TIR_MODULE_NAMES),
    *(f"tvm.relax.{name}" for name in vocabulary.RELAX_MODULE_NAMES),
    *(f"tvm.{name}" for name in vocabulary.TVM_NAMES),
    *(f"numpy.{name}" for name in vocabulary.NUMPY_NAMES),
    *(f"math.{name}" for name in vocabulary.MATH_NAMES),
]


def test_nothing_on_offer_is_a_module() -> None:
    missing = []
    for dotted in OFFERED:
        try:
            assert not isinstance(lookup(dotted), types.ModuleType), dotted
        except AttributeError:
            missing.append(dotted)
    # The names of older releases, which the dialect rules or other spellings replace.
    assert len(missing) < len(OFFERED) // 20, missing


def test_every_group_is_a_stand_in() -> None:
    groups = [
        RELAX,
        TIR,
        IR,
        "tvm",
        "tvm.relax",
        "tvm.relax.op",
        "tvm.tir",
        "tvm.topi",
        "tvm.ir",
        "numpy.random",
    ]
    assert all(type(lookup(group)) is Namespace for group in groups)


@pytest.mark.parametrize(
    "dotted",
    [
        "tvm.get_global_func",
        "tvm.runtime.load_module",
        "tvm.contrib.cc",
        "tvm.relax.op.builtin.builtin.os",
        "tvm.relax.transform",
        "tvm.script.parser.core",
        "tvm.script.relax.parser.entry",
        "numpy.load",
        "numpy.random.RandomState",
        "numpy.lib",
        "math.factorial",
        "os",
        "os.system",
        "builtins.open",
        "tvm.__builtins__",
        "tvm.script.tir._ffi_api",
    ],
)
def test_everything_else_is_refused(dotted: str) -> None:
    with pytest.raises(RefusedError):
        lookup(dotted)


@pytest.mark.parametrize(
    "name", ["macro", "jit", "call_kernel", "inline", "register_script_namespace", "parser"]
)
def test_what_would_run_python_does_not_exist(name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(Namespace(TIR), name)


def test_a_stand_in_cannot_be_changed() -> None:
    with pytest.raises(RefusedError):
        ROOTS["tvm"].cpu = print


@pytest.mark.parametrize("name", ["list", "tuple", "sum", "max", "enumerate"])
def test_builtins_refuse_long_sequences(name: str) -> None:
    assert BUILTINS[name]([1, 2]) is not None
    with pytest.raises(RefusedError):
        BUILTINS[name](range(10**9))


@pytest.mark.parametrize(
    ("dotted", "arguments"),
    [
        ("numpy.zeros", ((10**5, 10**5),)),
        ("numpy.arange", (10**10,)),
        ("numpy.eye", (10**5,)),
        ("numpy.arange", (0, 1, 1e-12)),
        ("numpy.random.rand", (10**5, 10**5)),
        ("numpy.full", ((10**6, 10**6), 0)),
        ("numpy.tile", ([1], 10**10)),
    ],
)
def test_large_arrays_are_refused(dotted: str, arguments: tuple[object, ...]) -> None:
    with pytest.raises(RefusedError):
        lookup(dotted)(*arguments)
