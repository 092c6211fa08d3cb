"""RLX205 where parts of a tensor are written through views: which parts may then be read, by the bytes of each."""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

import pytest

from tests.rules.checking import checks, parse
from tests.rules.ways import FILL_AND_SUM

MODULE = (
    FILL_AND_SUM
    + """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), g: R.Tensor((), "bool"), e: R.Tensor((1,), "float32")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([n * 64 + 256]), 0, "global", "uint8")
    w = R.memory.alloc_tensor(s, 64, R.shape([{count}]), "float32")
{lines}
    u = R.memory.view(w, R.shape([{read[1]}]), "float32", {read[0]})
    _ = Module.add_up(u, e)
    return e
"""
)
Part: TypeAlias = "tuple[int, int | str]"


def judged(*lines: str, read: Part, count: str = "8") -> str:
    """The verdict on the read of a part: its first byte, and its elements. Nothing is asked of a tensor all of
    which is written.
    """
    body = "\n".join(f"    {line}" for line in lines)
    found = checks(parse(MODULE.format(lines=body, read=read, count=count)), "RLX205")
    verdicts = [one.verdict.value for one in found if "`w`" in one.message]
    (verdict,) = verdicts or ["always-fine"]
    return verdict


def filled(part: Part, name: str = "v") -> list[str]:
    """A part of the tensor is filled."""
    return [
        f'{name} = R.memory.view(w, R.shape([{part[1]}]), "float32", {part[0]})',
        f"_{name} = Module.fill({name})",
    ]


def branches(one: Part, other: Part) -> list[str]:
    """One of two parts is filled."""
    indented = [
        [f"    {line}" for line in (*filled(part, name), f"h{name} = x")]
        for part, name in ((one, "a"), (other, "b"))
    ]
    return ["if g:", *indented[0][:-1], "    h = x", "else:", *indented[1][:-1], "    h = x"]


def bytes_of(part: Part) -> range:
    """The bytes of a part."""
    assert isinstance(part[1], int)
    return range(part[0], part[0] + 4 * part[1])


def covers(written: Part, read: Part) -> bool:
    """Whether what is read has been written."""
    assert isinstance(written[1], int)
    assert isinstance(read[1], int)
    return written[0] <= read[0] and read[0] + 4 * read[1] <= written[0] + 4 * written[1]


PARTS: list[Part] = [(0, 8), (0, 4), (8, 4), (16, 4), (8, 3), (12, 1), (4, 6)]


@pytest.mark.parametrize("written", PARTS)
def test_what_was_written_may_be_read(written: Part) -> None:
    for read in PARTS:
        expected = "always-fine" if covers(written, read) else "needs-runtime-check"
        assert judged(*filled(written), read=read) == expected, read


def test_what_both_branches_have_written_may_be_read() -> None:
    for one, other, read in product(((0, 4), (4, 6)), ((0, 4), (8, 4)), ((8, 2), (0, 4), (8, 3))):
        expected = "always-fine" if covers(one, read) and covers(other, read) else "needs-runtime-check"
        assert judged(*branches(one, other), read=read) == expected, (one, other, read)


@pytest.mark.parametrize("written", [(0, 4), (8, 4), (4, 6)])
def test_what_one_of_two_writes_has_written_may_be_read(written: Part) -> None:
    for read in ((8, 2), (0, 4), (8, 4), (16, 3), (8, 5), (0, 7), (4, 6)):
        found = judged(*filled((16, 3), "b"), *filled(written), read=read)
        expected = set(bytes_of(read)) <= {*bytes_of(written), *bytes_of((16, 3))}
        assert found == ("always-fine" if expected else "needs-runtime-check"), read


SIZES: dict[tuple[Part, Part], str] = {
    ((0, "n"), (0, 4)): "needs-runtime-check",
    ((8, "n"), (4, 3)): "needs-runtime-check",
    ((0, "n"), (0, "n")): "always-fine",
    ((0, "n + 2"), (4, "n")): "always-fine",
    ((0, "n + 2"), (8, "n")): "always-fine",
    ((0, "n + 2"), (12, "n")): "needs-runtime-check",
    ((8, "n + 2"), (4, "n")): "needs-runtime-check",
}


@pytest.mark.parametrize(("written", "read"), SIZES)
def test_what_a_size_decides(written: Part, read: Part) -> None:
    assert judged(*filled(written), read=read, count="n + 8") == SIZES[written, read]


@pytest.mark.parametrize(
    ("read", "safe"),
    [("u = k[0]", "n >= 3"), ('v = k[0]\n    u = R.memory.view(v, R.shape([2]), "float32")', None)],
)
def test_one_of_two_results_that_may_be_written_in_part(read: str, safe: str | None) -> None:
    lines = MODULE[: MODULE.index("    s = R.memory")] + "    k = R.topk(x, 3, axis=0, ret_type='both')\n"
    found = checks(parse(f"{lines}    {read}\n    _ = Module.add_up(u, e)\n    return e\n"), "RLX205")
    assert [one.safe_when for one in found if one.verdict.value != "always-fine"] == [safe]


VIEW = 'R.memory.view(w, {}, "float32", {})'
LONG = 'h = R.call_packed("long", ty_args=(R.Shape(ndim=1),))'
EITHER = [
    "if g:",
    f"    {{}} = {VIEW.format('R.shape([2])', '0')}",
    "else:",
    f"    {{}} = {VIEW.format('R.shape([2])', '8')}",
]


def either(name: str) -> list[str]:
    """A name for one of two parts: nobody knows which."""
    return [line.format(name) for line in EITHER]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (filled((0, 4)), either("u")),
        (filled((0, 4)), [LONG, f"u = {VIEW.format('h', '0')}"]),
        (
            [LONG, f"v = {VIEW.format('h', '0')}", "_v = Module.fill(v)"],
            [f"u = {VIEW.format('R.shape([2])', '0')}"],
        ),
    ],
)
def test_of_a_part_that_is_not_known_nobody_knows_whether_it_was_written(
    written: list[str], read: list[str]
) -> None:
    head = MODULE[: MODULE.index("{lines}")].format(count="8")
    body = "".join(f"    {line}\n" for line in (*written, *read, "_ = Module.add_up(u, e)", "return e"))
    found = checks(parse(head + body), "RLX205")
    assert [one.verdict.value for one in found if "`w`" in one.message] == ["needs-runtime-check"]
