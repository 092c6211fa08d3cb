"""What calls do to the contents of their arguments, read from kernels and calling conventions."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
import tvm
from tvm import relax

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.effects import Effect, EffectTable, superseded
from relax_lint.model.builder import build_program
from relax_lint.model.kernels import Kernel
from relax_lint.model.operations import KernelCall
from relax_lint.model.prim_funcs import read_kernel
from relax_lint.vm.builtins import UNREAD_BY

PAIR = """
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
"""


def effect_of(module: str) -> Effect:
    """The effect of the last kernel call of `main`."""
    text = "@I.ir_module(check_well_formed=False)\nclass Module:\n" + indent(dedent(module), "    ")
    program = build_program(tvm.script.from_source(text, check_well_formed=False))
    main = next(function for function in program.functions if function.name == "main")
    calls = [op for op in main.body.walk() if isinstance(op, KernelCall)]
    return EffectTable(program).effect_of(calls[-1])


def of_kernel(body: str, *, handles: str = "a: T.handle, b: T.handle", buffers: str = PAIR) -> Effect:
    """The effect of a call `f(x, y)` of the PrimFunc with this body."""
    kernel = f"@T.prim_func(private=True)\ndef f({handles}):\n    n = T.int64()\n"
    kernel += indent(dedent(buffers).strip("\n"), "    ") + "\n" + indent(dedent(body).strip("\n"), "    ")
    main = """
        @R.function(pure=False)
        def main(x: R.Tensor((8,), "float32"), y: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
            Module.f(x, y)
            return y
    """
    return effect_of(kernel + "\n" + dedent(main))


def reads_and_writes(effect: Effect) -> tuple[set[int], set[int]]:
    return set(effect.reads), set(effect.writes)


def test_an_elementwise_kernel_may_work_in_place() -> None:
    effect = of_kernel("for i in range(n):\n    y[i] = T.exp(x[i]) * T.float32(2)")
    assert reads_and_writes(effect) == ({0}, {1})
    assert effect.elementwise == {(0, 1)}
    assert effect.known


def test_a_kernel_that_reads_other_elements_may_not() -> None:
    effect = of_kernel("for i in range(n):\n    y[i] = x[n - 1 - i]")
    assert reads_and_writes(effect) == ({0}, {1})
    assert effect.elementwise == frozenset()


def test_an_element_that_is_stored_again_in_every_turn_of_a_loop_is_not_elementwise() -> None:
    # In place the second turn would double what the first one stored.
    effect = of_kernel("for k in range(3):\n    for i in range(n):\n        y[i] = x[i] * T.float32(2)")
    assert effect.elementwise == frozenset()


def test_elementwise_through_a_local_buffer() -> None:
    body = """
    z = T.alloc_buffer((8,), "float32")
    for i in range(8):
        z[i] = x[i] + T.float32(1)
    for i in range(8):
        y[i] = z[i] * z[i]
    """
    buffers = 'x = T.match_buffer(a, (8,), "float32")\ny = T.match_buffer(b, (8,), "float32")'
    assert of_kernel(body, buffers=buffers).elementwise == {(0, 1)}
    reversed_ = body.replace("z[i] * z[i]", "z[7 - i]")
    assert of_kernel(reversed_, buffers=buffers).elementwise == frozenset()


def test_an_index_or_a_condition_is_not_an_elementwise_use() -> None:
    assert (
        of_kernel("for i in range(n):\n    if x[0] > T.float32(0):\n        y[i] = -x[i]").elementwise
        == set()
    )


def test_an_output_that_the_kernel_initialises_is_not_read() -> None:
    body = """
    y[0] = T.float32(0)
    for i in range(n):
        y[0] = y[0] + x[i]
    """
    assert reads_and_writes(of_kernel(body)) == ({0}, {1})
    assert reads_and_writes(of_kernel(body.replace("y[0] = T.float32(0)", "T.evaluate(0)"))) == ({0, 1}, {1})


def test_an_output_that_is_added_to_is_read_before_it_is_written() -> None:
    assert of_kernel("for i in range(n):\n    y[i] = y[i] + x[i]").first_reads == {
        0: Certainty.MUST,
        1: Certainty.MUST,
    }
    # The loop over `k` may have no step although there is a `y[0]`.
    body = "for k in range(n - 1):\n    y[0] = y[0] + x[k]"
    assert of_kernel(body).first_reads == {0: Certainty.MAY, 1: Certainty.MAY}


def test_an_output_of_which_something_is_written_first_may_be_read_after_that() -> None:
    scan = "y[0] = x[0]\nfor i in range(n - 1):\n    y[i + 1] = y[i] + x[i + 1]"
    assert 1 not in of_kernel(scan).first_reads
    guarded = "for i in range(n):\n    if i == 0:\n        y[0] = x[0]\n    y[0] = y[0] + x[i]"
    assert 1 not in of_kernel(guarded).first_reads


RESHAPES = (
    ("n, 4", "n * 4", "i", "i // 4 % n, i % 4", True),
    ("n * 4", "n, 4", "i, j", "(i * 4 + j) % (n * 4)", True),
    ("n, 4", "n, 2, 2", "i, j, k", "(i * 4 + j * 2 + k) // 4 % n, (j * 2 + k) % 4", True),
    ("2, 3, 4", "6, 4", "i, j", "i // 3, i % 3, j", True),
    ("n, m", "n * m", "i", "i // m % n, i % m", True),
    ("n, 4", "4, n", "i, j", "j, i", False),
    ("n, 4", "n * 4", "i", "i // 4 % n, 3 - i % 4", False),
    ("n, 4", "n, 8", "i, j", "i, j // 2", False),
    ("n * 4", "n, 4", "i, j", "i * 4 + j", True),
    ("8", "8, 1", "i, j", "(i + j) % 8", True),
    ("n * 4", "n, 4", "i, j", "i + j * n", False),
)


@pytest.mark.parametrize(("source", "target", "at", "read_at", "same"), RESHAPES)
def test_a_copy_to_another_shape(source: str, target: str, at: str, read_at: str, same: bool) -> None:
    def kernel(value: str) -> Kernel:
        text = f"""
        @T.prim_func(private=True)
        def f(a: T.handle, b: T.handle):
            n = T.int64()
            m = T.int64()
            x = T.match_buffer(a, [{source}], "float32")
            y = T.match_buffer(b, [{target}], "float32")
            for {at} in T.grid({target}):
                y[{at}] = {value}
        """
        return read_kernel("f", tvm.script.from_source(dedent(text)))

    copy, computed = kernel(f"x[{read_at}]"), kernel(f"x[{read_at}] + T.float32(1)")
    expected = frozenset({(0, 1)} if same else ())
    assert (copy.copies, copy.elementwise) == (expected, expected)
    assert (computed.copies, computed.elementwise) == (frozenset(), expected)


def test_what_is_read_in_an_earlier_loop_is_read_before() -> None:
    body = """
    z = T.alloc_buffer((1,), "float32")
    z[0] = T.float32(0)
    for i in range(n):
        z[0] = z[0] + x[i]
    for i in range(n):
        y[i] = z[0]
    """
    assert of_kernel(body).read_before == {(0, 1)}
    scaled = of_kernel(body.replace("y[i] = z[0]", "y[i] = z[0] * x[i]"))
    assert scaled.read_before == {(0, 1)}
    assert not scaled.elementwise
    assert of_kernel(body.replace("y[i] = z[0]", "y[i] = z[0] * x[0]")).read_before == set()
    nested = "for k in range(2):\n    for i in range(n):\n        z[i] = x[i]\n    for i in range(n):\n        y[i] = z[0]"
    assert of_kernel('z = T.alloc_buffer((8,), "float32")\n' + nested).read_before == set()


def test_an_output_that_is_initialised_only_under_a_condition_is_read() -> None:
    body = """
    if x[0] > T.float32(0):
        y[0] = T.float32(0)
    y[0] = y[0] + x[0]
    """
    assert reads_and_writes(of_kernel(body)) == ({0, 1}, {1})


def test_the_initialisation_of_a_reduction_comes_first() -> None:
    effect = effect_of(
        """
        @T.prim_func(private=True, s_tir=True)
        def f(x: T.Buffer((4, 8), "float32"), y: T.Buffer((4,), "float32")):
            for i, k in T.grid(4, 8):
                with T.sblock("sum"):
                    v, w = T.axis.remap("SR", [i, k])
                    with T.init():
                        y[v] = T.float32(0)
                    y[v] = y[v] + x[v, w]

        @R.function
        def main(x: R.Tensor((4, 8), "float32")) -> R.Tensor((4,), "float32"):
            y = R.call_tir(Module.f, (x,), R.Tensor((4,), "float32"))
            return y
        """
    )
    assert reads_and_writes(effect) == ({0}, {1})
    assert effect.elementwise == frozenset()


def test_a_window_of_a_block_is_its_source() -> None:
    effect = effect_of(
        """
        @T.prim_func(private=True, s_tir=True)
        def f(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32")):
            for i in range(4):
                with T.sblock("part"):
                    v = T.axis.spatial(4, i)
                    T.reads(x[v * 4 : v * 4 + 4])
                    T.writes(y[v * 4 : v * 4 + 4])
                    s = T.match_buffer(x[v * 4 : v * 4 + 4], (4,), "float32", offset_factor=4)
                    d = T.match_buffer(y[v * 4 : v * 4 + 4], (4,), "float32", offset_factor=4)
                    for j in range(4):
                        d[j] = s[j]

        @R.function
        def main(x: R.Tensor((16,), "float32")) -> R.Tensor((16,), "float32"):
            y = R.call_tir(Module.f, (x,), R.Tensor((16,), "float32"))
            return y
        """
    )
    assert reads_and_writes(effect) == ({0}, {1})
    assert effect.known


def test_a_second_declaration_of_the_same_data_is_the_parameter() -> None:
    buffers = 'x = T.match_buffer(a, (8,), "float32")\ny = T.match_buffer(b, (8,), "float32")'
    body = """
    z = T.decl_buffer((2, 4), "float32", data=y.data)
    for i in range(2):
        z[i, 0] = x[i]
    """
    assert reads_and_writes(of_kernel(body, buffers=buffers)) == ({0}, {1})


def test_an_access_pointer_says_what_it_is_for() -> None:
    body = 'T.evaluate(T.call_extern("int32", "copy", x.access_ptr("r"), y.access_ptr("w")))'
    effect = of_kernel(body)
    assert reads_and_writes(effect) == ({0}, {1})
    assert effect.known
    assert effect.elementwise == frozenset()


def test_an_address_that_leaves_the_kernel_is_read_and_written() -> None:
    effect = of_kernel('T.evaluate(T.call_extern("int32", "f", T.address_of(y[0])))')
    assert reads_and_writes(effect) == ({1}, {1})
    assert not effect.known
    assert "`y`" in effect.why
    raw = of_kernel('T.evaluate(T.call_extern("int32", "f", x.data))')
    assert reads_and_writes(raw) == ({0}, {0})


CALLS = """
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32"), y: R.Tensor((8,), "float32")):
        z = {}
        return z
"""


@pytest.mark.parametrize(
    ("call", "reads", "writes", "known"),
    [
        ("R.add(x, y)", {0, 1}, {2}, True),
        ('R.call_dps_packed("f", (x, y), R.Tensor((8,), "float32"))', {0, 1}, {2}, True),
        ('R.call_pure_packed("f", x, y, ty_args=R.Tensor((8,), "float32"))', {0, 1}, set(), True),
        ('R.call_packed("f", x, y, ty_args=R.Tensor((8,), "float32"))', {0, 1}, {0, 1}, False),
        (
            'R.call_inplace_packed("f", x, y, inplace_indices=[1], ty_args=R.Tensor((8,), "float32"))',
            {0, 1},
            {1},
            True,
        ),
        ('R.call_packed("runtime.TVMTensorCopyFromTo", x, y, ty_args=R.Tuple)', {0}, {1}, True),
        ('R.call_packed("vm.builtin.check_tensor_info", x, ty_args=R.Tuple)', set(), set(), True),
    ],
)
def test_conventions(call: str, reads: set[int], writes: set[int], known: bool) -> None:
    effect = effect_of(CALLS.format(call))
    assert reads_and_writes(effect) == (reads, writes)
    assert effect.known is known
    assert bool(effect.why) is not known


def test_the_output_of_a_call_in_place_is_its_argument() -> None:
    effect = effect_of(
        """
        @T.prim_func(private=True)
        def f(a: T.handle, b: T.handle):
            x = T.match_buffer(a, (8,), "float32")
            y = T.match_buffer(b, (8,), "float32")
            for i in range(8):
                x[i] = x[i] + y[i]

        @R.function
        def main(x: R.Tensor((8,), "float32"), y: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
            z = R.call_tir_inplace(Module.f, (x, y), inplace_indices=[0], out_ty=R.Tensor((8,), "float32"))
            return z
        """
    )
    assert reads_and_writes(effect) == ({0, 1}, {0})


_OPERATORS = {
    "relax.zeros_like": ("R.zeros_like(a)", ((4, 4),)),
    "relax.ones_like": ("R.ones_like(a)", ((4, 4),)),
    "relax.full_like": ("R.full_like(a, b)", ((4, 4), ())),
    "relax.eye_like": ("R.eye_like(a)", ((4, 4),)),
    "relax.collapse_sum_like": ("R.collapse_sum_like(a, b)", ((4, 4), (1, 4))),
    "relax.grad.avg_pool2d_backward": (
        "R.grad.avg_pool2d_backward(a, b, pool_size=(2, 2), strides=(2, 2))",
        ((1, 1, 2, 2), (1, 1, 4, 4)),
    ),
    "relax.grad.take_backward": ("R.grad.take_backward(a, b, i, axis=0)", ((2,), (4,))),
}


def test_every_operator_that_reads_only_a_type_is_tried() -> None:
    inspecting = {name for name in UNREAD_BY if name.startswith("relax.inspect.tensor_")}
    assert _OPERATORS.keys() == UNREAD_BY.keys() - inspecting
    assert inspecting <= set(tvm.ir.Op.list_op_names())


@pytest.mark.parametrize("name", sorted(_OPERATORS))
def test_the_kernel_of_an_operator_that_reads_only_a_type_reads_no_element(name: str) -> None:
    call, shapes = _OPERATORS[name]
    parameters = [f'{one}: R.Tensor({shape}, "float32")' for one, shape in zip("ab", shapes, strict=False)]
    text = f"""
        @R.function
        def main({", ".join(parameters)}, i: R.Tensor((2,), "int64")):
            gv = {call}
            return gv
    """
    module = tvm.script.from_source("@I.ir_module\nclass Module:\n" + indent(dedent(text), "    "))
    for lowered in (module, relax.transform.LegalizeOps()(module)):
        program = build_program(lowered)
        main = next(function for function in program.functions if function.name == "main")
        (made,) = [op for op in main.body.walk() if isinstance(op, KernelCall)]
        effect = EffectTable(program).effect_of(made)
        read = {main.values[made.arguments[position]].name for position in effect.reads}
        assert not read & {"ab"[position] for position in UNREAD_BY[name]}


IN_PLACE = "R.call_tir_inplace(Module.f, (x, y), [0], {type})"
INPUTS = 'x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")'


@pytest.mark.parametrize(
    ("indices", "writes"), [("[0]", {0}), ("[1]", {1}), ("[1, -1]", {1}), ("[-1, 0]", {0})]
)
def test_a_packed_call_in_place_writes_the_arguments_that_it_names(indices: str, writes: set[int]) -> None:
    types = ", ".join(['R.Tensor((4,), "float32")'] * (indices.count(",") + 1))
    effect = effect_of(f"""
        @R.function(pure=False)
        def main({INPUTS}):
            z = R.call_inplace_packed("some.update", x, y, inplace_indices={indices}, ty_args=[{types}])
            return z
    """)
    assert reads_and_writes(effect) == ({0, 1}, writes)


@pytest.mark.parametrize(
    ("body", "call", "older"),
    [
        ("y[i] = x[i]", "R.call_tir(Module.f, (x,), {type})", {}),
        # A kernel may write what it is given although another output is declared.
        (
            "y[i] = x[i]\n        x[i] = T.float32(0)",
            "R.call_tir(Module.f, (x,), {type})",
            {0: Certainty.MAY},
        ),
        # Of one that cannot be read, the declaration is believed.
        ('T.evaluate(T.call_packed("unseen", x.data, y.data))', "R.call_tir(Module.f, (x,), {type})", {}),
        ("x[i] = y[i]", IN_PLACE, {0: Certainty.MUST}),
        ("x[i] = y[i]\n        y[i] = T.float32(0)", IN_PLACE, {0: Certainty.MUST, 1: Certainty.MAY}),
        ("x[i] = y[i]", "Module.f(x, y)", {}),
    ],
)
def test_what_a_call_leaves_an_older_name_of(body: str, call: str, older: dict[int, Certainty]) -> None:
    text = f"""
@T.prim_func(private=True, s_tir=True)
def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        {body}

@R.function(pure=False)
def main({INPUTS}):
    z = {call.format(type='R.Tensor((4,), "float32")')}
    return y
"""
    module = "@I.ir_module(check_well_formed=False)\nclass Module:\n" + indent(text, "    ")
    program = build_program(tvm.script.from_source(module, check_well_formed=False))
    main = next(function for function in program.functions if function.name == "main")
    (found,) = main.body.of(KernelCall)
    assert superseded(found, EffectTable(program).effect_of(found)) == older
