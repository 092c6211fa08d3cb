"""The HTML report in a real Chromium: it draws, asks for nothing, and follows its symbols."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy

import relax_lint
from relax_lint import cli
from relax_lint.output.html import render_html
from relax_lint.results.report import FileResult, InputStatus, Report
from relax_lint.settings.config import Config
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.printing import expr_text
from relax_lint.totals.quantities import Indeterminate, evaluate
from tests.memory.browser import Browser, executable
from tests.memory.conftest import Memory
from tests.memory.programs import BRANCHES, SYMBOLIC

pytestmark = pytest.mark.skipif(executable() is None, reason="no Chromium is installed")
N, M = sympy.symbols("n m", integer=True)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def opened(browser: Browser, memory: Memory, tmp_path: Path) -> Iterator[Callable[..., Browser]]:
    """Opens the report of a module; afterwards nothing but the file may have been asked for."""
    page = tmp_path / "report.html"
    browser.requests.clear()
    browser.complaints.clear()

    def show(module: str, *options: str) -> Browser:
        memory(module, "--output-format", "html", "--output-file", str(page), *options)
        browser.open(page)
        return browser

    yield show
    assert set(browser.requests) <= {page.as_uri(), "data:,"}
    assert browser.complaints == []


def _card(browser: Browser, name: str) -> list[str]:
    """The texts of the card of a total."""
    script = "[...document.querySelectorAll('.card')].map((card) => [...card.children].map((part) => part.textContent))"
    return next(list(parts) for parts in browser.evaluate(script) if parts[0] == name)


def test_it_draws_the_totals_at_the_binding(opened: Callable[..., Browser]) -> None:
    browser = opened(SYMBOLIC, "--bind", "n=500")
    assert browser.text("function-title") == "Module.main"
    assert _card(browser, "peak live")[2:] == ["2,000 bytes", "Max(4*n, 1000)"]
    assert "Alive: 2,000 bytes, the peak." in browser.text("here")
    assert "b2,000 bytes100 %t" in browser.text("tensors")
    # Something is drawn on both pictures.
    colours = (
        "(() => {{ const c = document.getElementById('{}'), d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; return new Set(new Uint32Array(d.buffer)).size; }})()"
    )
    assert browser.evaluate(colours.format("live")) > 5
    assert browser.evaluate(colours.format("map")) > 5


def test_a_symbol_redraws_everything(opened: Callable[..., Browser]) -> None:
    browser = opened(SYMBOLIC, "--bind", "n=500")
    browser.type_into("value-n", "100")
    # Now the first storage is the larger one.
    assert _card(browser, "peak live")[2] == "1,000 bytes"
    assert "Alive: 1,000 bytes, the peak." in browser.text("here")
    assert "s1,000 bytes" in browser.text("storages")
    browser.type_into("slide-n", "1000")
    assert _card(browser, "peak live")[2] == "4,000 bytes"
    assert browser.evaluate("document.getElementById('value-n').value") == "1000"
    browser.type_into("value-n", "-1")
    assert browser.evaluate("document.getElementById('value-n').getAttribute('aria-invalid')") == "true"
    assert _card(browser, "peak live")[2] == "4,000 bytes"


def test_the_keyboard_moves_through_the_program(opened: Callable[..., Browser]) -> None:
    browser = opened(SYMBOLIC, "--bind", "n=500")
    before = browser.text("here")
    browser.evaluate("document.getElementById('step').focus()")
    for _ in range(10):
        browser.press("ArrowLeft")
    assert browser.text("here").startswith("Step 1 of ")
    assert browser.text("here") != before
    browser.evaluate("document.getElementById('to-peak').focus()")
    browser.press("Enter")
    assert browser.text("here") == before


def test_branches_can_be_chosen(opened: Callable[..., Browser]) -> None:
    browser = opened(BRANCHES, "--bind", "n=10")
    assert "Alive: 120 bytes, the peak." in browser.text("here")
    browser.evaluate(
        "(() => { const box = document.getElementById('path'); box.value = '1';"
        " box.dispatchEvent(new Event('change')); })()"
    )
    assert browser.text("path") == "thenelse"
    assert "Alive: 40 bytes, the peak." in browser.text("here")


def test_a_pool_without_a_formula_is_played_through(opened: Callable[..., Browser]) -> None:
    module = SYMBOLIC.replace("R.shape([4 * n])", "R.shape([4 * n + 1])")
    module = module.replace("R.shape([1000])", "R.shape([16 * n])")
    browser = opened(module, "--bind", "n=1024")
    # 16 KiB, and two pages for 4097 bytes; at n = 10 both take one page, the same.
    assert _card(browser, "reserved, pooled")[2] == "24,576 bytes"
    browser.type_into("value-n", "10")
    assert _card(browser, "reserved, pooled")[2] == "4,096 bytes"


def test_names_cannot_break_out_of_the_page(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(SYMBOLIC, encoding="utf-8")
    (total,) = relax_lint.memory(tmp_path / "model.py")
    hostile = (
        "</script><script>document.title = 'theirs'</script><img src=x onerror=\"document.title = 'theirs'\">"
    )
    total = replace(total, module=None, function=hostile, path=hostile)
    report = Report((FileResult(InputStatus(hostile, 1, "checked"), memory=(total,)),), None)
    page = tmp_path / "report.html"
    page.write_text(render_html(report, Config()), encoding="utf-8")
    browser.requests.clear()
    browser.open(page)
    assert browser.text("function-title") == hostile
    assert browser.evaluate("document.title") == "Memory report - relax-lint"
    assert browser.requests == [page.as_uri()]


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_enough_contrast(opened: Callable[..., Browser], dark: bool) -> None:
    browser = opened(SYMBOLIC)
    browser.dark(dark)
    script = """(() => {
      const style = getComputedStyle(document.documentElement);
      return Object.fromEntries(['paper', 'card', 'ink', 'quiet', 'accent', 'peak', 'budget']
        .map((name) => [name, style.getPropertyValue('--' + name).trim()]));
    })()"""
    colours = browser.evaluate(script)
    assert (_luminance(colours["card"]) < 0.5) is dark
    for name in ("ink", "quiet", "accent", "peak", "budget"):
        # 4.5 : 1 is what the accessibility guidelines (WCAG AA) ask of text.
        assert _contrast(colours[name], colours["card"]) >= 4.5, name


def test_a_large_module_stays_responsive(browser: Browser, tmp_path: Path) -> None:
    import tvm

    from tests.programs.transformer import lowered

    saved, page = tmp_path / "model.json", tmp_path / "report.html"
    saved.write_text(tvm.ir.save_json(lowered(32, bounded=True, stage="killed")), encoding="utf-8")
    assert cli.main(["memory", str(saved), "--output-format", "html", "--output-file", str(page)]) == 0
    browser.complaints.clear()
    browser.open(page)
    assert int(browser.evaluate("Number(document.getElementById('step').max)")) > 2400
    script = (
        "(() => { const box = document.getElementById('value-n'), start = performance.now();"
        " for (let n = 1; n <= 10; n++) { box.value = 100 * n; box.dispatchEvent(new Event('input')); }"
        " return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame("
        "() => done(performance.now() - start)))); })()"
    )
    # Ten quick changes are drawn once; a person notices from 100 ms on, a busy test machine gets more.
    assert browser.evaluate(script) < 1000
    assert browser.complaints == []


@pytest.fixture(scope="module")
def layered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a planned transformer of four layers."""
    import tvm

    from tests.programs.transformer import lowered

    folder = tmp_path_factory.mktemp("layered")
    saved, page = folder / "model.json", folder / "report.html"
    saved.write_text(tvm.ir.save_json(lowered(4, bounded=True, stage="killed")), encoding="utf-8")
    assert cli.main(["memory", str(saved), "--output-format", "html", "--output-file", str(page)]) == 0
    return page


def test_what_is_looked_for_is_found_by_operator_shape_and_type(browser: Browser, layered: Path) -> None:
    browser.open(layered)
    browser.type_into("find", "softmax")
    assert browser.text("found").startswith("4 found, ")
    browser.type_into("find", "matmul float32 (1, n")
    several = int(browser.text("found").split()[0])
    assert several > 4
    browser.evaluate("document.getElementById('find').focus()")
    browser.press("Enter")
    first = browser.text("here")
    assert browser.text("found").startswith(f"1 of {several}: ")
    browser.press("Enter")
    assert browser.text("here") != first
    browser.type_into("find", "nothing has this name")
    assert browser.text("found") == "0 found, 0 bytes in all"


def test_the_picture_is_zoomed_and_moved_by_keyboard_and_button(browser: Browser, layered: Path) -> None:
    browser.open(layered)
    steps = int(browser.evaluate("Number(document.getElementById('step').max)")) + 1
    seen = "document.getElementById('map').dataset.seen.split(' ').map(Number)"
    assert browser.evaluate(seen) == [0, steps]
    browser.evaluate("document.getElementById('zoom-in').click()")
    begin, end = browser.evaluate(seen)
    assert abs((end - begin) - steps / 2) <= 1
    browser.evaluate("document.getElementById('map').focus()")
    browser.press("-")
    assert browser.evaluate(seen) == [0, steps]
    browser.press("+")
    browser.evaluate("document.getElementById('later').click()")
    assert browser.evaluate(seen)[0] > begin
    # A step that is not shown comes into view.
    browser.type_into("step", "0")
    assert browser.evaluate(seen)[0] == 0
    browser.press("0")
    assert browser.evaluate(seen) == [0, steps]


def test_what_is_alive_is_summed_by_operator_and_by_layer(browser: Browser, layered: Path) -> None:
    browser.open(layered)
    for group, words in (("operator", "softmax"), ("layer", "layer 1"), ("type", "float32")):
        browser.evaluate(
            f"(() => {{ const box = document.getElementById('group'); box.value = '{group}';"
            " box.dispatchEvent(new Event('change')); })()"
        )
        assert words in browser.text("groups")
        assert words in browser.text("legend")
    cells = "[...document.querySelectorAll('#groups tbody tr')].map((row) => row.children[1].textContent)"
    tensors = "[...document.querySelectorAll('#tensors tbody tr')].map((row) => row.children[1].textContent)"
    assert sum(map(_bytes, browser.evaluate(cells))) == sum(map(_bytes, browser.evaluate(tensors)))


def test_parameters_stand_under_the_live_bytes(browser: Browser, layered: Path) -> None:
    browser.open(layered)
    assert "parameters (" in browser.text("kept-words")
    before = browser.evaluate("document.getElementById('live').toDataURL()")
    browser.evaluate("document.getElementById('kept').click()")
    assert browser.evaluate("document.getElementById('live').toDataURL()") != before


def test_another_report_is_compared(opened: Callable[..., Browser], tmp_path: Path) -> None:
    opened(SYMBOLIC, "--bind", "n=500")
    other = (tmp_path / "report.html").read_text(encoding="utf-8")
    larger = SYMBOLIC.replace("R.shape([1000])", "R.shape([5000])")
    assert larger != SYMBOLIC
    browser = opened(larger, "--bind", "n=500")
    _choose(browser, "older.html", other)
    assert browser.text("moved-title") == "Module.main: older.html and this report"
    peak = next(row for row in _rows(browser, "moved-totals") if row[0] == "peak live")
    assert peak[1:] == ["1.953 KiB", "4.883 KiB", "+2.93 KiB"]
    _choose(browser, "page.html", "<p id=data>no report</p>")
    assert browser.text("other-message") == "page.html cannot be compared: it cannot be read"
    assert browser.evaluate("document.getElementById('moved').hidden") is True
    hostile = other.replace("</head>", "<script>document.title = 'theirs'</script></head>")
    _choose(browser, "hostile.html", hostile)
    assert browser.evaluate("document.title") == "Memory report - relax-lint"


def _bytes(text: str) -> int:
    return int(text.removesuffix(" bytes").replace(",", ""))


def _rows(browser: Browser, table: str) -> list[list[str]]:
    script = "[...document.querySelectorAll('#{} tbody tr')].map((row) => [...row.children].map((each) => each.textContent))"
    return [list(map(str, row)) for row in browser.evaluate(script.format(table))]


def _choose(browser: Browser, name: str, content: str) -> None:
    """Give the page a file as a person does who chooses it."""
    browser.evaluate(
        "(() => { const files = new DataTransfer();"
        f" files.items.add(new File([{json.dumps(content)}], {name!r}, {{ type: 'text/html' }}));"
        " const box = document.getElementById('other'); box.files = files.files;"
        " box.dispatchEvent(new Event('change')); })()"
    )
    browser.evaluate("new Promise((done) => setTimeout(done, 50)).then(() => true)")
    browser.settle()


def test_formulas_have_the_values_that_they_have_here(opened: Callable[..., Browser]) -> None:
    browser = opened(SYMBOLIC)
    random_expr = _Random(random.Random(7))
    exprs = [random_expr.expr(4) for _ in range(400)]
    points = [{"n": n, "m": m} for n in (0, 1, 7, 4096) for m in (1, 3, 100)]
    texts = [expr_text(expr) for expr in exprs]
    script = (
        f"{texts!r}.map((text) => {{ const value = formula(text); return {points!r}.map((point) => {{"
        " const found = value(new Map(Object.entries(point))); return Number.isNaN(found) ? null : found; }); })"
    )
    for expr, shown, values in zip(exprs, texts, browser.evaluate(script), strict=True):
        for point, value in zip(points, values, strict=True):
            assert value == _exact(expr, point), (shown, point)


def test_the_report_is_one_small_file(memory: Memory) -> None:
    found = memory(SYMBOLIC, "--output-format", "html")
    assert len(found.out) < 60_000
    assert relax_lint.__version__ in found.out


class _Random:
    """Random formulas of the kinds that totals are made of."""

    def __init__(self, source: random.Random) -> None:
        self._source = source

    def expr(self, depth: int) -> Any:
        choice = self._source.randrange(9) if depth else self._source.randrange(2)
        if choice == 0:
            return sympy.Integer(self._source.choice((0, 1, 2, 3, 8, 100, 4096)))
        if choice == 1:
            return self._source.choice((N, M))
        a, b = self.expr(depth - 1), self.expr(depth - 1)
        divisor = sympy.Integer(self._source.choice((2, 3, 7, 128)))
        return (
            lambda: a + b,
            lambda: a - b,
            lambda: a * self._source.choice((N, M, sympy.Integer(5))),
            lambda: f.FloorDiv(a, divisor),
            lambda: f.FloorMod(a - b, divisor),
            lambda: sympy.Max(a, b, evaluate=False),
            lambda: f.Select(sympy.Eq(N * 8, M, evaluate=False), a, b),
        )[choice - 2]()


def _exact(expr: Any, point: dict[str, int]) -> int | None:
    """The value, None where JavaScript's numbers do not hold it."""
    try:
        value = evaluate(sympy.sympify(expr), point)
    except Indeterminate:
        return None
    return value if abs(value) < 2**53 else None


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
