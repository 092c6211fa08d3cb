"""`--device-memory`: what serving takes of a device, and the largest input that fits."""

from __future__ import annotations

import relax_lint
from relax_lint.totals.serving import serving
from tests.memory.conftest import Memory
from tests.memory.programs import HEADER, SYMBOLIC
from tests.memory.test_workspaces import KERNEL
from tests.report_schema import report_validator
from tests.totals.corpus_packed import SYMBOLS, paged_cache

SETTINGS = dict(zip(SYMBOLS, (4, 4096, 256, 16, 0), strict=True))


def test_the_largest_value_fits_and_the_next_one_does_not(memory: Memory) -> None:
    def served(*options: str) -> dict[str, object]:
        found = memory(
            KERNEL, "--lower", "--device-memory", "1MiB", "--output-format", "json", *options
        ).report
        report_validator().validate(found)
        (one,) = found["serving"]
        return dict(one)

    without = served()
    assert without["missing"] == ["n"]
    assert without["left"] is None
    largest = without["largest"]
    assert isinstance(largest, dict)
    fitting, above = served("--bind", f"n={largest['n']}"), served("--bind", f"n={largest['n'] + 1}")
    assert isinstance(fitting["left"], int)
    assert fitting["left"] >= 0
    assert isinstance(above["left"], int)
    assert above["left"] < 0
    # 256 bytes a row: of the input, of the storage and of the kernel's own buffer.
    assert fitting["parameters"] == 256 * largest["n"]
    assert above["largest"] == largest


def test_the_text_says_what_is_left(memory: Memory) -> None:
    found = memory(KERNEL, "--lower", "--device-memory", "1MiB", "--bind", "n=20").out
    assert "serving Module (model.py) on 1,048,576 bytes (1 MiB)\n" in found
    assert "5,120 bytes (5 KiB) of `main`\n" in found
    assert "16,384 bytes (16 KiB) of `main`, the function that needs most\n" in found
    assert f"{(1 << 20) - 5120 - 16384:,} bytes" in found


def test_a_declared_bound_stands_for_a_value(memory: Memory) -> None:
    one = memory(SYMBOLIC, "--device-memory", "1kB", "--output-format", "json").report["serving"][0]
    assert one["values"] == {"n": 2048}
    assert one["left"] < 0


def test_what_cannot_be_counted_is_named(memory: Memory) -> None:
    packed = (
        HEADER
        + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3, 8), "float32")):
        mine = R.call_packed("mine.something", x, ty_args=[R.Any])
        return mine
"""
    )
    assert "not counted" in memory(packed, "--device-memory", "1GiB").out.partition("serving Module")[2]


def test_a_paged_cache_is_solved_for_its_context() -> None:
    totals = relax_lint.memory(paged_cache(4, (8, 2), 32, "float32"), SETTINGS)
    (one,) = serving(totals, 1 << 30, "llvm")
    assert one.objects is not None
    assert one.left == (1 << 30) - one.objects - (one.parameters or 0) - (one.working or 0)
    context = one.largest["max_total_seq_len"]
    assert context is not None
    for length, fits in ((context, True), (context + 1, False)):
        there = relax_lint.memory(
            paged_cache(4, (8, 2), 32, "float32"), {**SETTINGS, "max_total_seq_len": length}
        )
        (served,) = serving(there, 1 << 30, "llvm")
        assert served.left is not None
        assert (served.left >= 0) is fits
    # On a GPU what the host keeps does not count.
    (apart,) = serving(totals, 1 << 30, "cuda")
    assert apart.objects is not None
    assert apart.objects < one.objects


def test_the_context_against_the_batch(memory: Memory) -> None:
    totals = relax_lint.memory(paged_cache(4, (8, 2), 32, "float32"), SETTINGS)
    (one,) = serving(totals, 1 << 30, "llvm")
    frontier = one.frontier
    assert frontier is not None
    assert (frontier.of, frontier.at) == ("max_total_seq_len", "max_batch_size")
    assert [point.at for point in frontier.points] == [1, 2, 4, 8, 16, 32, 64]
    at_four = next(point for point in frontier.points if point.at == 4)
    assert at_four.largest == one.largest["max_total_seq_len"]
    contexts = [point.largest for point in frontier.points]
    assert None not in contexts
    assert contexts == sorted(contexts, key=lambda each: each or 0, reverse=True)
    assert contexts[0] != contexts[-1]


def test_nothing_beyond_a_declared_bound_is_promised(memory: Memory) -> None:
    one = memory(SYMBOLIC, "--device-memory", "1GiB", "--output-format", "json").report["serving"][0]
    assert one["bounds"] == one["largest"] == {"n": 2048}
    said = memory(SYMBOLIC, "--device-memory", "1GiB").out
    assert "every value up to its bound, 2,048, fits" in said


def test_two_plain_symbols_have_a_frontier_in_the_page_too(memory: Memory) -> None:
    two = KERNEL.replace('("n", 64)', '("n", "b")').replace("(n, 64)", "(n, b)").replace(", 64]", ", b]")
    two = two.replace("n * 256", "n * b * 4").replace("T.grid(n, 64)", "T.grid(n, b)")
    two = two.replace("        n = T.int64()\n", "        n = T.int64()\n        b = T.int64()\n")
    two = two.replace("63 - j", "b - 1 - j").replace("shape([n, 64])", "shape([n, b])")
    served = memory(two, "--device-memory", "1MiB", "--output-format", "json").report["serving"][0]
    assert (served["frontier"]["of"], served["frontier"]["at"]) == ("n", "b")
    page = memory(two, "--device-memory", "1MiB", "--output-format", "html").out
    assert "<h2>Largest n by b: Module on 1,048,576 bytes (1 MiB)</h2>" in page
    assert page.count("<rect") == len(served["frontier"]["points"]) == 7


def test_a_size_without_a_unit_is_refused(memory: Memory) -> None:
    found = memory(KERNEL, "--device-memory", "8")
    assert found.code == 2
    assert "has no unit" in found.err
