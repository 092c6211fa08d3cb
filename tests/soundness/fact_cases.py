"""For each kind of fact programs and calls that violate it, and what the VM says.

`refused` begins the error of a check that comes before any operation; where it is None, the VM lets the call
through, and the fact is not one that it enforces.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

from relax_lint.vm.facts import FactSource

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def double(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = x[i] * T.float32(2)
"""


@dataclass(frozen=True)
class Case:
    """A function `main`, a call that keeps the fact and one that violates it, as rule pages write calls."""

    source: FactSource
    name: str
    body: str
    keeps: str
    violates: str
    refused: str | None
    allocator: str = "naive"

    @property
    def text(self) -> str:
        """The module."""
        return HEADER + indent(dedent(self.body), "    ")


def _main(parameters: str, *lines: str, before: str = "", returns: str = "R.shape([1])") -> str:
    body = "".join(f"    {line}\n" for line in (*lines, f"return {returns}"))
    return f"{before}\n@R.function(pure=False)\ndef main({parameters}):\n{body}"


_N, _K, _J = "n = T.int64()", "k = T.int64()", "j = T.int64()"
_X = 'x: R.Tensor(("n",), "float32")'
_CLAIM = (
    'p = R.call_packed("vm.builtin.make_tuple", x, ty_args=R.Object)',
    'y = R.call_packed("vm.builtin.tuple_getitem", p, R.prim_value(0), ty_args=R.Tensor({claimed}"float32"{rank}))',
)


def _claimed(claimed: str, rank: str = "") -> tuple[str, str]:
    return _CLAIM[0], _CLAIM[1].format(claimed=claimed, rank=rank)


_P, _S = FactSource.PARAMETER, FactSource.SCALAR_RANGE
_NARROW = {"int8": 1000, "uint8": -1, "int16": 40000, "uint16": -1, "int32": 2**40, "uint32": -1}

_SCALAR = 'k: R.Prim("int64")'
_HEAP = 'h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(1),), ty_args=R.Object)'
COMPARES_CONSTANT, STORES, COMPARES_NOTHING, COMPARES_SLOT = range(4)
"""The codes of `vm.builtin.match_prim_value`."""


def _compared(scalar: str, code: int, operand: int) -> str:
    call = f'"vm.builtin.match_prim_value", R.prim_value({scalar}), h, {code}, {operand}, R.str("")'
    return f"seen_{scalar} = R.call_packed({call}, ty_args=R.Tuple)"


CASES = (
    Case(
        FactSource.INTEGER,
        "a number beyond int64",
        _main('k: R.Prim("int64")'),
        "k: 3",
        f"k: {2**63}",
        "",
    ),
    Case(FactSource.INTEGER, "a fraction", _main('k: R.Prim("int64")'), "k: 3", "k: 1.5", "TypeError"),
    Case(
        _P,
        "rank",
        _main('x: R.Tensor(("n",), "float32")', _N),
        "x: float32[3]",
        "x: float32[3, 1]",
        "ValueError",
    ),
    Case(
        _P,
        "rank alone",
        _main('x: R.Tensor("float32", ndim=1)'),
        "x: float32[3]",
        "x: float32[3, 1]",
        "ValueError",
    ),
    Case(
        _P, "dtype", _main('x: R.Tensor(("n",), "float32")', _N), "x: float32[3]", "x: int8[3]", "ValueError"
    ),
    Case(
        _P,
        "constant extent",
        _main('x: R.Tensor((4,), "float32")'),
        "x: float32[4]",
        "x: float32[5]",
        "RuntimeError",
    ),
    Case(
        _P,
        "one symbol in two parameters",
        _main(f'{_X}, z: R.Tensor(("n",), "float32")', _N),
        "x: float32[4], z: float32[4]",
        "x: float32[4], z: float32[5]",
        "RuntimeError",
    ),
    Case(
        _P,
        "an expression of a symbol",
        _main(f'{_X}, z: R.Tensor(("n * 2 + 1",), "float32")', _N),
        "x: float32[4], z: float32[9]",
        "x: float32[4], z: float32[8]",
        "RuntimeError",
    ),
    Case(
        _P,
        "a tensor in a tuple",
        _main(f'{_X}, z: R.Tuple(R.Tensor(("n",), "float32"))', _N),
        "x: float32[4], z: (float32[4])",
        "x: float32[4], z: (float32[5])",
        "RuntimeError",
    ),
    Case(
        _P,
        "a shape",
        _main(f'{_X}, s: R.Shape(["n"])', _N),
        "x: float32[4], s: shape(4)",
        "x: float32[4], s: shape(5)",
        "RuntimeError",
    ),
    Case(
        _P,
        "the parameter of a function that is called",
        _main(
            _X,
            _N,
            "y = Module.inner(x)",
            before='\n@R.function(private=True)\ndef inner(y: R.Tensor((4,), "float32")):\n    return y\n',
            returns="y",
        ).replace(_X, 'x: R.Tensor("float32", ndim=1)'),
        "x: float32[4]",
        "x: float32[5]",
        "RuntimeError",
    ),
    *(
        Case(_S, dtype, _main(f'k: R.Prim("{dtype}")'), "k: 3", f"k: {value}", None)
        for dtype, value in _NARROW.items()
    ),
    Case(
        FactSource.MATCH_CAST,
        "a constant",
        _main(_X, _N, 'y = R.match_cast(x, R.Tensor((4,), "float32"))'),
        "x: float32[4]",
        "x: float32[5]",
        "RuntimeError",
    ),
    Case(
        FactSource.MATCH_CAST,
        "an expression",
        _main(
            f'{_X}, z: R.Tensor(("k",), "float32")',
            _N,
            _K,
            'y = R.match_cast(x, R.Tensor((k * 2,), "float32"))',
        ),
        "x: float32[4], z: float32[2]",
        "x: float32[5], z: float32[2]",
        "RuntimeError",
    ),
    Case(
        FactSource.MATCH_CAST,
        "a symbol twice",
        _main(
            'x: R.Tensor("float32", ndim=2)',
            _K,
            'y = R.match_cast(x, R.Tensor((k, k), "float32"))',
            returns="y",
        ),
        "x: float32[4, 4]",
        "x: float32[4, 5]",
        "RuntimeError",
    ),
    Case(
        FactSource.MATCH_CAST,
        "a shape that is not declared",
        _main(
            _X, _N, *_claimed("", ", ndim=1"), 'z = R.match_cast(y, R.Tensor((4,), "float32"))', returns="z"
        ),
        "x: float32[4]",
        "x: float32[5]",
        "RuntimeError",
    ),
    Case(
        FactSource.MATCH_CAST,
        "a rank that is not declared",
        _main('x: R.Tensor("float32")', 'y = R.match_cast(x, R.Tensor("float32", ndim=1))', returns="y"),
        "x: float32[4]",
        "x: float32[4, 1]",
        "ValueError",
    ),
    Case(
        FactSource.MATCH_CAST_SYMBOL,
        "a symbol of another parameter",
        _main(
            f'{_X}, z: R.Tensor(("k",), "float32")',
            _N,
            _K,
            'y = R.match_cast(x, R.Tensor((k,), "float32"))',
            returns="y",
        ),
        "x: float32[3], z: float32[3]",
        "x: float32[3], z: float32[5]",
        None,
    ),
    Case(
        FactSource.MATCH_CAST_SYMBOL,
        "a shape that is declared",
        _main(_X, _N, *_claimed("(4,), "), 'z = R.match_cast(y, R.Tensor((4,), "float32"))', returns="z"),
        "x: float32[4]",
        "x: float32[5]",
        None,
    ),
    Case(
        FactSource.ASSERTION,
        "of an extent",
        _main(_X, _N, 'R.assert_op(n <= 4, [n], format="n")'),
        "x: float32[4]",
        "x: float32[5]",
        "AssertionError",
    ),
    Case(
        FactSource.ASSERTION,
        "linear in a scalar",
        _main('k: R.Prim("int64")', 'R.assert_op(k * 4 <= 64, [k], format="k")'),
        "k: 16",
        f"k: {2**62}",
        "AssertionError",
    ),
    Case(
        FactSource.ASSERTION,
        "a sum that would wrap around",
        _main('k: R.Prim("int64")', 'R.assert_op(k + 1 <= 64, [k], format="k")'),
        "k: 16",
        f"k: {2**63 - 1}",
        "AssertionError",
    ),
    Case(
        FactSource.WRAPPING,
        "a square",
        _main('k: R.Prim("int64")', 'R.assert_op(k * k <= 64, [k], format="k")'),
        "k: 8",
        f"k: {2**32}",
        None,
    ),
    Case(
        FactSource.WRAPPING,
        "a sum of two scalars",
        _main('k: R.Prim("int64"), j: R.Prim("int64")', 'R.assert_op(k + j <= 64, [k], format="k")'),
        "k: 8, j: 9",
        f"k: {2**62}, j: {2**62 + 2**61}",
        None,
    ),
    Case(
        FactSource.WRAPPING,
        "an extent of a parameter",
        _main('s: R.Shape(["k"]), x: R.Tensor(("k * 4",), "float32")', _K),
        "s: shape(1), x: float32[4]",
        f"s: shape({2**62 + 1}), x: float32[4]",
        None,
    ),
    Case(
        FactSource.HEAP_SLOT,
        "a constant",
        _main(
            'x: R.Tensor("float32", ndim=1)',
            'h = R.call_packed("vm.builtin.null_value", ty_args=R.Object)',
            'w = R.call_packed("vm.builtin.match_shape", x, h, 1, 0, 4, R.str(""), ty_args=R.Tuple)',
        ),
        "x: float32[4]",
        "x: float32[5]",
        "RuntimeError",
    ),
    Case(
        FactSource.HEAP_SLOT,
        "a slot",
        _main(
            'x: R.Tensor("float32", ndim=1), z: R.Tensor("float32", ndim=1)',
            'h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(1),), ty_args=R.Object)',
            'w = R.call_packed("vm.builtin.match_shape", x, h, 1, 1, 0, R.str(""), ty_args=R.Tuple)',
            'v = R.call_packed("vm.builtin.match_shape", z, h, 1, 3, 0, R.str(""), ty_args=R.Tuple)',
        ),
        "x: float32[4], z: float32[4]",
        "x: float32[4], z: float32[5]",
        "RuntimeError",
    ),
    Case(
        FactSource.HEAP_SLOT,
        "a scalar and a constant",
        _main(_SCALAR, _HEAP, _compared("k", COMPARES_CONSTANT, 4)),
        "k: 4",
        "k: -4",
        "RuntimeError",
    ),
    Case(
        FactSource.HEAP_SLOT,
        "a scalar and the slot of another one",
        _main(
            f'{_SCALAR}, j: R.Prim("int64")',
            _HEAP,
            _compared("k", STORES, 0),
            _compared("j", COMPARES_SLOT, 0),
        ),
        "k: -7, j: -7",
        "k: -7, j: 7",
        "RuntimeError",
    ),
    Case(
        FactSource.HEAP_SLOT,
        "a scalar and the slot of an extent",
        _main(
            f'x: R.Tensor("float32", ndim=1), {_SCALAR}',
            _HEAP,
            'w = R.call_packed("vm.builtin.match_shape", x, h, 1, 1, 0, R.str(""), ty_args=R.Tuple)',
            _compared("k", COMPARES_SLOT, 0),
        ),
        "x: float32[4], k: 4",
        "x: float32[4], k: 5",
        "RuntimeError",
    ),
    Case(
        FactSource.HEAP_SLOT,
        "an extent and the slot of a scalar",
        _main(
            f'x: R.Tensor("float32", ndim=1), {_SCALAR}',
            _HEAP,
            _compared("k", STORES, 0),
            'w = R.call_packed("vm.builtin.match_shape", x, h, 1, 3, 0, R.str(""), ty_args=R.Tuple)',
        ),
        "x: float32[4], k: 4",
        "x: float32[4], k: -4",
        "RuntimeError",
    ),
    Case(
        FactSource.KERNEL_ENTRY,
        "equal extents",
        _main(f'{_X}, z: R.Tensor(("k",), "float32")', _N, _K, "w = Module.double(x, z)", before=KERNEL),
        "x: float32[4], z: float32[4]",
        "x: float32[4], z: float32[5]",
        "",
    ),
    Case(
        FactSource.WITHIN_PAGES,
        "a tensor beyond the page",
        _main(
            _X,
            _N,
            'st = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))',
            't = R.memory.alloc_tensor(st, R.prim_value(0), R.shape([n]), R.dtype("float32"))',
        ),
        "x: float32[1024]",
        "x: float32[1025]",
        "InternalError",
        "pooled",
    ),
    Case(
        FactSource.DECLARED_BOUND,
        "an upper bound",
        _main(_X, _N, 'R.func_attr({"tir_var_upper_bound": {"n": 4}})'),
        "x: float32[4]",
        "x: float32[5]",
        None,
    ),
)

BY_OTHERS = {
    FactSource.EXTENT_SIGN: "test_only_tvm_itself_makes_a_tensor_of_negative_extents",
    FactSource.BRANCH: "test_a_branch_is_entered_where_its_condition_holds",
    FactSource.MAX_EXTENT: "test_what_is_stated_once_for_all_is_said",
    FactSource.JUDGED_ELSEWHERE: "test_what_is_judged_elsewhere_is_reported_there",
    FactSource.DIVISOR: "test_a_division_by_zero_ends_the_run_wherever_it_stands",
    FactSource.AXIS_HAS_ELEMENT: "test_an_axis_without_an_element_reads_nothing",
    FactSource.CONFIGURATION: "test_what_is_asked_for_is_listed",
    FactSource.REQUESTED: "test_what_is_asked_for_is_listed",
}
"""Kinds whose violation is no call of one function, with the test that tries it."""
