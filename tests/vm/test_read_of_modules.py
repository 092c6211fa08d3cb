"""What is read from modules and nodes: functions, calls, devices and dtypes."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax
from tvm.script import from_source

from relax_lint.fixes.check_form import CheckForm, form_in_text
from relax_lint.model.builder import build_program
from relax_lint.vm import comparing, versions
from relax_lint.vm.reshapes import alone, becomes_reshape, is_reshape
from tests.vm.nodes_of import call, node

PROGRAM = """\
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def one() -> T.int64:
        return T.int64(1)

    @T.prim_func(s_tir=True)
    def copied(x: T.Buffer((4,), "float32"), y: T.Buffer((2, 2), "float32")):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                y[v // 2, v % 2] = x[v]

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        {line}
        return y
"""
ADD = "y = R.add(x, x)"


def module(line: str = ADD) -> Any:
    """A module with two kernels and one function."""
    return from_source(PROGRAM.format(line=line.replace("\n", "\n        ")), check_well_formed=False)


STORAGE = """\
s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
y = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")"""
VM_STORAGE = """\
s = R.vm.alloc_storage(R.shape([16]), 0, "uint8", "global")
y = R.vm.alloc_tensor(s, 0, R.shape([4]), "float32")"""
BRANCH = """\
if c:
    z = R.{first}
    y = z
else:
    z = R.{second}
    y = z"""
PACKED = 'y = R.call_packed("f", x, ty_args=R.Tensor((4,), "float32"))'
IN_PLACE = 'y = R.call_inplace_packed("f", x, inplace_indices=[0], ty_args=R.Tensor((4,), "float32"))'
BUILTIN = 'y = R.call_builtin_with_ctx("f", (x,), ty_args=R.Tensor((4,), "float32"))'
RESHAPE = "y = R.reshape(x, R.shape([4]))"
IN_A_CALL = 'y = R.call_packed("f", R.add(x, x), ty_args=R.Tensor((4,), "float32"))'


@pytest.mark.parametrize(
    ("line", "storages", "in_place", "to_lower", "at_vm_level"),
    [
        (ADD, False, False, True, False),
        ("y = x", False, False, False, False),
        (STORAGE, True, False, False, False),
        (VM_STORAGE, True, False, False, True),
        (f"{STORAGE}\nz = R.add(x, x)", True, False, False, False),
        (PACKED, False, False, False, False),
        (IN_PLACE, False, True, False, False),
        (BUILTIN, False, False, False, True),
        (RESHAPE, False, False, False, False),
        (BRANCH.format(first="add(x, x)", second="reshape(x, R.shape([4]))"), False, False, True, False),
        (BRANCH.format(first="reshape(x, R.shape([4]))", second="add(x, x)"), False, False, True, False),
    ],
)
def test_the_level_of_a_module_is_read_from_its_calls(
    line: str, storages: bool, in_place: bool, to_lower: bool, at_vm_level: bool
) -> None:
    found = module(line)
    assert versions.has_storages(found) is storages
    assert versions.has_packed_in_place(found) is in_place
    assert versions.has_operators_to_lower(found) is to_lower
    wanted = CheckForm.BUILTIN if at_vm_level else CheckForm.ASSERT_OP
    assert form_in_text("auto", build_program(found)) is wanted


def test_a_call_that_no_binding_binds_is_found_too() -> None:
    x = relax.Var("x", relax.TensorType([4], "float32"))
    result = relax.Function([x], relax.op.add(x, x), relax.TensorType([4], "float32"))
    bare = tvm.IRModule({tvm.ir.GlobalVar("main"): result})
    assert list(versions.bound_values(bare)) == []
    assert _calls(bare, "add")
    assert not _calls(bare, "multiply")


SEVERAL = """\
@I.ir_module
class Module:
    @R.function
    def first(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        @R.function
        def inner(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            w = R.negative(z)
            return w

        y = inner(x)
        with R.dataflow():
            v = R.exp(y)
            u = R.sin(v)
            R.output(u)
        t = R.cos(u)
        return t

    @R.function
    def second(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.tanh(x)
        return y
"""


def test_what_is_bound_in_all_functions_and_blocks_is_found() -> None:
    calls = map(versions.operator_name, versions.bound_values(from_source(SEVERAL)))
    assert sorted(name for name in calls if name) == ["cos", "exp", "inner", "negative", "sin", "tanh"]


IN_BRANCHES = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        if c:
            y = R.negative(x)
            if c:
                z1 = R.exp(y)
                z = z1
            else:
                z2 = R.sin(y)
                z = z2
            w = z
        else:
            y = R.cos(x)
            w = R.tanh(y)
        v = R.sqrt(w)
        return v
"""


def test_what_is_bound_in_branches_is_found_and_an_if_itself() -> None:
    values = list(versions.bound_values(from_source(IN_BRANCHES)))
    names = [versions.operator_name(value) for value in values if type(value).__name__ == "Call"]
    assert sorted(names) == ["cos", "exp", "negative", "sin", "sqrt", "tanh"]
    assert sum(type(value).__name__ == "If" for value in values) == 2


def test_an_argument_in_a_later_function_is_found() -> None:
    x = relax.Var("x", relax.TensorType([4], "float32"))
    functions = {
        tvm.ir.GlobalVar(name): relax.Function([x], body, relax.TensorType([4], "float32"))
        for name, body in (("a", relax.op.add(x, x)), ("b", relax.op.negative(x)))
    }
    bare = tvm.IRModule(functions)
    assert _calls(bare, "add")
    assert _calls(bare, "negative")


def _calls(found: Any, name: str) -> bool:
    return versions.has_call(found, lambda one: versions.operator_name(one) == name)


def test_functions_and_kernels_are_told_apart() -> None:
    found = module()
    assert [name for name, _ in versions.relax_functions(found)] == ["main"]
    assert sorted(name for name, _ in versions.prim_functions(found)) == ["copied", "one"]
    assert versions.is_relax_function(found, found.get_global_var("main"))
    assert not versions.is_relax_function(found, found.get_global_var("one"))
    assert not versions.is_relax_function(found, tvm.ir.GlobalVar("main"))


def test_the_form_of_a_module() -> None:
    assert versions.ill_formed(module()) is None
    impure = module(PACKED)
    pure = impure["main"].with_attr("relax.force_pure", False)
    wrong = relax.Function(pure.params, pure.body, pure.ret_ty, is_pure=True, attrs=pure.attrs)
    impure.update_func(impure.get_global_var("main"), wrong)
    assert "impure" in str(versions.ill_formed(impure))


def test_an_error_without_words_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Any) -> None:
        raise ValueError

    monkeypatch.setattr(relax.analysis, "well_formed", fails)
    assert versions.ill_formed(module()) == "ValueError"


def test_the_expression_that_a_kernel_returns() -> None:
    found = module()
    returned: Any = versions.returned_expression(found["one"])
    assert int(returned) == 1
    assert versions.returned_expression(found["copied"]) is None


def test_a_kernel_loses_its_name_and_nothing_else() -> None:
    found = module()
    assert "global_symbol" in found["copied"].attrs
    bare = comparing.without_name(found["copied"])
    assert "global_symbol" not in (bare.attrs or {})
    assert comparing.without_name(bare) is bare
    assert comparing.without_name(found["one"]).same_as(found["one"])
    nothing = node("PrimFunc", attrs=None)
    assert comparing.without_name(nothing) is nothing


def test_equal_nodes_have_one_hash() -> None:
    one, other, third = module()["copied"], module()["copied"], module()["one"]
    assert comparing.structural_hash(one) == comparing.structural_hash(other)
    assert comparing.structural_equal(one, other)
    assert not comparing.structural_equal(one, third)


@pytest.mark.parametrize(
    ("called", "name"),
    [
        (call("relax.add"), "add"),
        (node("Call", op=node("ExternFunc", global_symbol="vm.builtin.copy"), args=()), "vm.builtin.copy"),
        (node("Call", op=node("Var"), args=()), ""),
        (node("Var", op=node("Op", name="relax.add")), ""),
    ],
)
def test_the_name_of_what_is_called(called: Any, name: str) -> None:
    assert versions.operator_name(called) == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [("float32", (32, 1)), ("int8x4", (8, 4)), ("float16xvscalex4", (16, 0)), ("bool", (8, 1))],
)
def test_the_bits_of_a_dtype(text: str, expected: tuple[int, int]) -> None:
    bits, lanes = versions.dtype_bits(text)
    # A release of TVM counts one bit for a truth value, another one eight.
    assert (bits, lanes) == expected or (text == "bool" and (bits, lanes) == (1, 1))


FLOAT = tvm.DataType("float32")


@pytest.mark.parametrize(
    ("value", "kind", "dtype"),
    [
        (node("GenericConst", value=FLOAT), "DataTypeImm", FLOAT),
        (node("GenericConst", value="a text"), "Constant", None),
        (node("DataTypeImm", value="float32"), "DataTypeImm", "float32"),
        (node("Constant", value=FLOAT), "Constant", None),
        (node("DataflowVar"), "Var", None),
        (node("Var"), "Var", None),
    ],
)
def test_the_kind_of_a_node_is_that_of_today(value: Any, kind: str, dtype: Any) -> None:
    assert versions.kind(value) == kind
    assert versions.dtype_in(value) == dtype


def test_what_was_left_out_is_an_empty_tuple() -> None:
    assert versions.is_absent(relax.Tuple([]))
    assert not versions.is_absent(relax.Tuple([relax.Tuple([])]))
    assert not versions.is_absent(relax.const(1))
    assert versions.is_of_dataflow(relax.DataflowVar("x", relax.TensorType([4], "float32")))
    assert not versions.is_of_dataflow(relax.Var("x", relax.TensorType([4], "float32")))


DEVICES = """\
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [%s]})

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x
"""


@pytest.mark.parametrize(
    ("devices", "kinds"),
    [
        (['I.vdevice("llvm")'], ["llvm"]),
        (['I.vdevice("llvm")', 'I.vdevice("c", 1)'], ["llvm", "c"]),
        ([], []),
    ],
)
def test_the_devices_that_a_module_declares(devices: list[str], kinds: list[str]) -> None:
    declared = from_source(DEVICES % ", ".join(devices))
    assert versions.device_count(declared) == max(1, len(kinds))
    assert [kind for _, kind, _ in versions.declared_devices(declared)] == kinds


def test_without_a_declaration_there_is_one_device() -> None:
    assert versions.device_count(module()) == 1
    assert versions.declared_devices(module()) == ()


def test_a_module_is_itself() -> None:
    found = module()
    assert versions.as_module(found) is found
    assert versions.as_module("a text") is None


def _bare() -> Any:
    x = relax.Var("x", relax.TensorType([4], "float32"))
    return relax.Function([x], x, relax.TensorType([4], "float32"))


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (_bare().with_attr("global_symbol", "other"), "other"),
        (_bare(), "main"),
        (_bare().with_attr("num_input", 1), "main"),
    ],
)
def test_a_module_is_made_of_a_function_with_its_name(function: Any, name: str) -> None:
    made: Any = versions.as_module(function)
    assert [own for own, _ in versions.relax_functions(made)] == [name]
    assert made[name].body.same_as(function.body)


def test_arguments_of_packed_functions() -> None:
    assert versions.integer_value(versions.integer_argument(7)) == 7
    assert str(versions.text_argument("a").value) == "a"


def test_a_kernel_that_moves_no_element_is_a_reshape() -> None:
    assert is_reshape(module()["copied"])
    assert not is_reshape(module()["one"])
    assert not is_reshape(module()["main"])


def _bound(line: str) -> Any:
    return next(value for value in versions.bound_values(module(line)) if type(value).__name__ == "Call")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = R.multiply(x, R.const(1.0))", True),
        ("y = R.multiply(x, R.const(3.0))", False),
        ("y = R.concat((x,), axis=0)", True),
        ("y = R.concat((x, x), axis=0)", False),
        (ADD, False),
        # There is no kernel.
        (PACKED, False),
    ],
)
def test_what_an_operator_becomes(line: str, expected: bool) -> None:
    assert becomes_reshape(_bound(line)) is expected


def test_what_cannot_be_cut_out_may_become_anything() -> None:
    assert becomes_reshape(node("Call", op=None, args=()))


def test_a_call_alone_has_its_variables_as_parameters() -> None:
    cut = alone(_bound("z = R.add(x, x)\ny = R.concat((x, x), axis=0)"))
    assert len(cut["main"].params) == 1
    packed = next(iter(versions.bound_values(alone(_bound(PACKED)))))
    assert [str(type_.dtype) for type_ in packed.ty_args] == ["float32"]
    cut = alone(_bound(RESHAPE))
    assert [versions.operator_name(one) for one in versions.bound_values(cut)] == ["reshape"]
