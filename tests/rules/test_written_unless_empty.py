"""RLX205 for what reductions fill in both branches, for what a copy to bytes and a choice of elements read."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

T4 = 'R.Tensor((4,), "float32")'
SUMS = f"""
@T.prim_func(private=True, s_tir=True)
def sums(a: T.handle, y: T.Buffer((4,), "float32")):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    for i, j in T.grid(4, n):
        with T.sblock("s"):
            v, w = T.axis.remap("SR", [i, j])
            with T.init():
                y[v] = T.float32(0)
            y[v] = y[v] + x[w]

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), z: R.Tensor(("m",), "float32"), c: R.Tensor((), "bool")) -> {T4}:
    y = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    if c:
        k1 = Module.sums(x, y)
        r = k1
    else:
        k2 = OTHER
        r = k2
    w = R.exp(y)
    return w
"""
READS = f"""
@T.prim_func(private=True, s_tir=True)
def chosen(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = T.if_then_else(CHOICE)

@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((4,), "bool"), p: R.Object):
    y = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))
    k = READ
    l = R.print(y, format="")
    return k
"""
TO_BYTES = 'R.call_packed("runtime.TVMTensorCopyToBytes", {}, p, R.prim_value(16), ty_args=R.Tuple)'
CHOICE, OF_WRITTEN = "x[i] > T.float32(1), y[i], T.float32(2)", "y[i] > T.float32(1), x[i], T.float32(2)"


def _said(text: str) -> list[tuple[str, str]]:
    found = checks(parse(text), "RLX205")
    return [(check.verdict.value, check.message) for check in found if check.binding in ("k", "w")]


def test_what_reductions_fill_in_both_branches_is_written_unless_one_is_empty() -> None:
    (check,) = checks(parse(SUMS.replace("OTHER", "Module.sums(z, y)")), "RLX205")
    assert (check.verdict.value, check.proof) == ("always-fine", "written unless a reduction is empty")
    assert check.assumes == ("no reduction is empty",)


def test_where_only_one_branch_has_a_reduction_the_other_one_has_to_write() -> None:
    (check,) = checks(parse(SUMS.replace("OTHER", "c")), "RLX205")
    assert check.verdict.value == "needs-runtime-check"


@pytest.mark.parametrize(
    ("read", "choice", "said"),
    [
        (TO_BYTES.format("y"), CHOICE, "always-wrong"),
        (TO_BYTES.format("x"), CHOICE, ""),
        ("R.where(c, x, y)", CHOICE, "needs-runtime-check"),
        ("R.where(c, y, x)", CHOICE, "needs-runtime-check"),
        ("R.where(c, x, x)", CHOICE, ""),
        ("Module.chosen(x, y)", CHOICE, "needs-runtime-check"),
        ("Module.chosen(x, y)", OF_WRITTEN, "always-wrong"),
    ],
)
def test_what_holds_nothing_is_read_for_certain_or_where_the_data_says_so(
    read: str, choice: str, said: str
) -> None:
    text = READS.replace("READ", read).replace("CHOICE", choice)
    if said == "needs-runtime-check":
        # Of several reads the one is told that certainly does harm, which printing does.
        text = text.replace('    l = R.print(y, format="")\n', "")
    found = _said(text)
    assert [verdict for verdict, _ in found] == ([said] if said else [])
