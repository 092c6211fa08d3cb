"""Rules about kernels, where the pages do not reach: compiler output, lowered modules, assumptions."""

from __future__ import annotations

import pytest

from tests.rules.checking import DOUBLE, checks, findings, parse, stages, verdicts

BRANCHES = """
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", 8), "float32")) -> R.Tensor(("n", 8), "float32"):
    n = T.int64()
    y = R.exp(x)
    if c:
        a = R.add(y, y)
        z = R.multiply(a, x)
    else:
        b = R.reshape(y, (n * 8,))
        z = R.negative(R.reshape(b, (n, 8)))
    w = R.add(z, y)
    return w
"""
DATA_DEPENDENT = """
@R.function
def main(x: R.Tensor(("n", 8), "float32")):
    n = T.int64()
    u = T.int64()
    a = R.unique(x, sorted=True)
    b = R.match_cast(a, R.Tensor((u,), "float32"))
    c = R.add(b, b)
    return c
"""
TUPLES = """
@R.function
def main(x: R.Tensor(("n", 8), "float32")):
    n = T.int64()
    parts = R.split(x, 2, axis=1)
    left = parts[0]
    right = parts[1]
    c = R.add(left, right)
    return c
"""
WINDOWED = """
@R.function
def main(x: R.Tensor((1, 3, "n", 16), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")):
    n = T.int64()
    a = R.nn.conv2d(x, w, padding=(1, 1))
    b = R.nn.max_pool2d(a, (2, 2), strides=(2, 2), padding=(1, 1))
    return b
"""


@pytest.mark.parametrize("text", [BRANCHES, DATA_DEPENDENT, TUPLES, WINDOWED])
def test_what_tvm_emits_is_fine_at_every_stage(text: str) -> None:
    for stage, module in stages(parse(text)):
        found = checks(module, "RLX3")
        assert [c for c in found if c.verdict.value != "always-fine"] == [], stage
        assert any(c.rule == "RLX301" for c in found) == (stage != "parsed")


def test_a_symbol_that_is_a_scalar_parameter_is_bound_before_all_buffers() -> None:
    module = """
    @T.prim_func(private=True)
    def fill(k: T.int64, a: T.handle):
        y = T.match_buffer(a, (k,), "float32")
        for i in range(k):
            y[i] = T.float32(1)

    @R.function
    def main(s: R.Shape(["k"])) -> R.Tensor(("k",), "float32"):
        k = T.int64()
        y = R.call_tir(Module.fill, (k,), R.Tensor(({extent},), "float32"))
        return y
    """
    assert verdicts(checks(parse(module.format(extent="k")), "RLX301")) == [("RLX301", "always-fine", None)]
    # Off by one for every k; the negative ones are another rule's business.
    assert verdicts(checks(parse(module.format(extent="k + 1")), "RLX301")) == [
        ("RLX301", "always-wrong", None)
    ]


def test_the_first_buffer_defines_a_symbol_and_an_expression_waits_for_it() -> None:
    module = """
    @T.prim_func(private=True)
    def halve(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n * 2,), "float32")
        y = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            y[i] = x[i * 2]

    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32"), y: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        m = T.int64()
        k = T.int64()
        Module.halve(x, y)
        return y
    """
    assert verdicts(findings(parse(module), "RLX301")) == [("RLX301", "needs-runtime-check", "m == 2*k")]


def test_a_claimed_type_is_an_assumption_of_the_verdict() -> None:
    module = (
        DOUBLE
        + """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    R.func_attr({"num_input": 1})
    y = R.call_packed("make", x, ty_args=R.Tensor((4,), "float32"))
    Module.double(x, y)
    Module.double(w, x)
    return y
"""
    )
    packed, weight = checks(parse(module), "RLX301")
    assert packed.assumes == ("the type of `y` (declared by the call of `make`, not checked)",)
    assert weight.assumes == ("the type of `w` (a parameter after num_input, not checked)",)


def test_offsets_go_on_through_views_and_other_names() -> None:
    module = (
        DOUBLE
        + """
@R.function(pure=False)
def main(x: R.Tensor((8,), "float32"), y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    a = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(8))
    b = R.memory.view(a, R.shape([2]), R.dtype("float32"), R.prim_value(4))
    c = b
    Module.double(c, y)
    d = R.memory.ensure_zero_offset(c)
    Module.double(d, y)
    return y
"""
    )
    (found,) = findings(parse(module), "RLX303")
    assert found.verdict.value == "always-wrong"
    assert "offset 12 bytes" in found.message


def test_an_index_under_a_condition_of_the_kernel_is_not_judged() -> None:
    module = """
    @T.prim_func(private=True)
    def copy(a: T.handle, b: T.handle):
        n = T.int64()
        m = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (m,), "float32")
        for i in range(m):
            y[i] = {}

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((6,), "float32"):
        y = R.call_tir(Module.copy, (x,), R.Tensor((6,), "float32"))
        return y
    """
    guarded = "T.if_then_else(i < n, x[i], T.float32(0))"
    assert findings(parse(module.format(guarded)), "RLX306") == []
    assert verdicts(findings(parse(module.format("x[i]")), "RLX306")) == [("RLX306", "always-wrong", None)]


@pytest.mark.parametrize(
    ("index", "safe_when"),
    [("i + j", "n >= 7"), ("i * 2 + j", "n >= 10"), ("i // 2 + 4", "n >= 6"), ("3 - i", None)],
)
def test_the_ranges_of_indices(index: str, safe_when: str | None) -> None:
    module = f"""
    @T.prim_func(private=True)
    def gather(a: T.handle, b: T.handle):
        n = T.int64()
        x = T.match_buffer(a, (n,), "float32")
        y = T.match_buffer(b, (4, 4), "float32")
        for i, j in T.grid(4, 4):
            y[i, j] = x[{index}]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor((4, 4), "float32"):
        n = T.int64()
        y = R.call_tir(Module.gather, (x,), R.Tensor((4, 4), "float32"))
        return y
    """
    (found,) = findings(parse(module), "RLX306")
    # The largest index is reached by i = 3 and j = 3, or, for `3 - i`, by i = 0: n >= 4.
    assert found.safe_when == (safe_when or "n >= 4")


def test_constant_indices_after_legalisation() -> None:
    module = """
    @R.function
    def main(x: R.Tensor(("n", 8), "float32")):
        n = T.int64()
        y = R.take(x, R.const([0, 3], "int32"), axis=0)
        return y
    """
    lowered = dict(stages(parse(module)))
    for stage in ("LegalizeOps", "StaticPlanBlockMemory", "VMShapeLower"):
        assert verdicts(findings(lowered[stage], "RLX308")) == [
            ("RLX308", "needs-runtime-check", "n >= 4")
        ], stage


def test_an_empty_reduction_is_harmless_where_the_kernel_writes_nothing() -> None:
    module = """
    @R.function
    def main(x: R.Tensor(("n", 8), "float32")):
        n = T.int64()
        y = R.{}
        return y
    """
    # A softmax over no rows has no elements at all; a sum over no rows has 8.
    softmax = dict(stages(parse(module.format("nn.softmax(x, axis=0)"))))["LegalizeOps"]
    total = dict(stages(parse(module.format("sum(x, axis=[0])"))))["LegalizeOps"]
    assert findings(softmax, "RLX307") == []
    (found,) = findings(total, "RLX307")
    assert (found.safe_when, found.severity.value) == ("n >= 1", "note")
