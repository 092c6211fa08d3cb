"""What the parser can reach at all, whatever the gate let through."""

from __future__ import annotations

import types

import numpy as np
import pytest
import tvm

from relax_lint.sources import permissions, vocabulary
from relax_lint.sources.facade import BUILTINS, ROOTS, Namespace, is_handed_out, lookup, origin_of
from relax_lint.sources.names import IR, RELAX, TIR
from relax_lint.sources.refusal import RefusedError

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


def test_what_is_handed_out_is_known_by_identity() -> None:
    assert origin_of(lookup(f"{RELAX}.add")) == f"{RELAX}.add"
    assert is_handed_out(BUILTINS["len"])
    for other in (
        open,
        print,
        types.FunctionType,
        test_a_stand_in_cannot_be_changed,
        len.__call__,  # type: ignore[operator]
        None,
        "R.add",
    ):
        assert not is_handed_out(other)


@pytest.mark.parametrize(
    ("dotted", "args", "kwargs"),
    [
        (f"{RELAX}.Callable", (None, None, False, "runtime.ModuleLoadFromFile"), {}),
        (f"{RELAX}.Callable", (), {"derive_func": "runtime.ModuleLoadFromFile"}),
        (f"{RELAX}.Callable", (), {"derive_func": print}),
        (f"{RELAX}.call_packed", ("f",), {"attrs_type_key": "relax.Function"}),
        (f"{RELAX}.call_packed", ("f",), {"attrs_type_key": print}),
        (f"{RELAX}.emit_te", (print, "x"), {}),
        (f"{RELAX}.emit_te", (lookup(f"{RELAX}.Callable"), None, None, None, "f"), {}),
        ("tvm.te.compute", ((4,), print), {}),
        ("typing.TypeVar", ("n",), {"bound": "open('x')"}),
    ],
)
def test_functions_that_call_look_at_what_they_are_given(
    dotted: str, args: tuple[object, ...], kwargs: dict[str, object]
) -> None:
    with pytest.raises(RefusedError):
        lookup(dotted)(*args, **kwargs)


def test_functions_that_call_still_work() -> None:
    assert lookup(f"{RELAX}.Callable")(derive_func="tvm.relax.type.infer_view_ty") is not None
    assert lookup("typing.TypeVar")("n").__name__ == "n"


@pytest.mark.parametrize("name", ["min", "max"])
def test_a_builtin_calls_nothing(name: str) -> None:
    with pytest.raises(RefusedError):
        BUILTINS[name]([1, 2], key=print)


@pytest.mark.parametrize("name", ["_dotted", "__class__", "__dict__", "__getattr__", "_anything"])
def test_a_stand_in_tells_nothing_of_itself(name: str) -> None:
    with pytest.raises(RefusedError):
        permissions.read(lookup(RELAX), name)


def test_attributes_by_type() -> None:
    var = tvm.tirx.Var("n", "int64")
    assert permissions.read(var, "name") == "n"
    assert permissions.read(np.zeros(3), "shape") == (3,)
    assert type(permissions.read(np.zeros(3), "astype")) is permissions.Method
    for value, name in (
        (var, "show"),
        (var, "script"),
        (var, "astext"),
        (var, "__class__"),
        (var, "__init_handle_by_constructor__"),
        (np.zeros(3), "tofile"),
        (np.zeros(3), "dump"),
        (np.zeros(3), "data"),
        (np.zeros(3), "view"),
        (np.zeros(3).dtype, "type"),
        (tvm.IRModule({}), "script"),
        (tvm.IRModule({}), "show"),
        (permissions.read(var, "same_as"), "__globals__"),
        (tvm.ir.Op.get("relax.add"), "get_attr"),
        (tvm.get_global_func("ir.PrimType"), "name"),
        ("text", "index"),
        (b"text", "hex"),
        ((1, 2), "index"),
        (1, "real"),
        (tvm.ir.Var, "name"),
        (tvm.ir, "Var"),
        (len, "__self__"),
    ):
        with pytest.raises(RefusedError):
            permissions.read(value, name)


@pytest.mark.parametrize(
    "function",
    [
        print,
        open,
        tvm.ir.EnvFunc,
        np.save,
        "text".format,
        tvm.get_global_func("ir.PrimType"),
        tvm.ir.load_json,
        type,
        object(),
    ],
)
def test_only_what_was_handed_out_is_called(function: object) -> None:
    with pytest.raises(RefusedError):
        permissions.call(function, [], {})


@pytest.mark.parametrize(
    "value", [print, tvm, tvm.get_global_func("ir.PrimType"), np.array([1], dtype=object), object()]
)
def test_foreign_values_are_no_arguments(value: object) -> None:
    with pytest.raises(RefusedError):
        permissions.call(lookup("numpy.abs"), [value], {})
