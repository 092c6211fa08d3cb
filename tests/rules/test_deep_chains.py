"""Functions that hand something on, one to the next, as many as there are: what is said at the end of the chain."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

T4 = 'R.Tensor((4,), "float32")'
DEEP = 320
STORAGE = 'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
LOOKS = 'u = R.call_packed("vm.builtin.shape_of", {}, ty_args=R.Shape)'
ALLOC = 'R.memory.alloc_tensor(s, R.prim_value(0), R.shape([EXTENT]), R.dtype("float32"))'
ANY = "R.Any"
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

"""


def _function(name: str, parameters: str, result: str, *lines: str, private: bool = True) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"@R.function(private={private}, pure=False)\ndef {name}({parameters}) -> {result}:\n{body}\n"


def _chain(parameters: str, arguments: str, result: str, *last: str) -> str:
    """`DEEP` functions each of which calls the next one and returns what that does."""
    calls = [f"y = Module.f{number + 1}({arguments})" for number in range(DEEP)]
    found = [
        _function(f"f{number}", parameters, result, call, "return y") for number, call in enumerate(calls)
    ]
    return "".join(found) + _function(f"f{DEEP}", parameters, result, *last)


def _main(*lines: str) -> str:
    return _function("main", f"x: {T4}, z: {T4}", T4, *lines, private=False)


def _verdicts(text: str, code: str) -> dict[str, str]:
    found = checks(parse(text), code)
    return {check.function or "": check.verdict.value for check in found if check.binding == "u"}


@pytest.mark.parametrize(("given", "verdict"), [(STORAGE, "always-wrong"), ("z", "always-fine")])
def test_what_is_handed_down(given: str, verdict: str) -> None:
    chain = _chain(f"s: {ANY}, x: {T4}", "s, x", T4, LOOKS.format("s"), "return x")
    found = _verdicts(chain + _main(f"s = {given}", "y = Module.f0(s, x)", "return y"), "RLX505")
    assert found == ({f"f{DEEP}": verdict} if verdict == "always-wrong" else {})


@pytest.mark.parametrize(("given", "wrong"), [(STORAGE, True), ("x", False)])
def test_what_is_handed_back(given: str, *, wrong: bool) -> None:
    chain = _chain(f"x: {T4}", "x", ANY, f"s = {given}", "return s")
    found = _verdicts(chain + _main("s = Module.f0(x)", LOOKS.format("s"), "return x"), "RLX505")
    assert found == ({"main": "always-wrong"} if wrong else {})


@pytest.mark.parametrize(("given", "wrong"), [(STORAGE, True), ("z", False)])
def test_what_is_handed_down_and_back(given: str, *, wrong: bool) -> None:
    chain = _chain(f"s: {ANY}", "s", ANY, "return s")
    lines = f"r = {given}", "s = Module.f0(r)", LOOKS.format("s"), "return x"
    found = _verdicts(chain + _main(*lines), "RLX505")
    assert found == ({"main": "always-wrong"} if wrong else {})


@pytest.mark.parametrize(("extent", "verdict"), [(4, "always-fine"), (5, "always-wrong")])
def test_a_storage_that_is_handed_down(extent: int, verdict: str) -> None:
    chain = _chain(f"s: {ANY}", "s", ANY, f"u = {ALLOC.replace('EXTENT', str(extent))}", "return u")
    found = _verdicts(chain + _main(f"s = {STORAGE}", "y = Module.f0(s)", "return y"), "RLX101")
    assert found == {f"f{DEEP}": verdict}


@pytest.mark.parametrize(("call", "said"), [("k = Module.copy(x, t)", []), ("k = x", ["always-wrong"])])
def test_a_function_that_is_handed_down(call: str, said: list[str]) -> None:
    type_ = f"R.Callable(({T4}, {T4}), {T4}, False)"
    chain = _chain(f"g: {type_}, t: {T4}, x: {T4}", "g, t, x", T4, "y = g(t, x)", "return y")
    called = _function("h", f"t: {T4}, x: {T4}", T4, call, "return x")
    alloc = ALLOC.replace("EXTENT", "4")
    main = _main(f"s = {STORAGE}", f"t = {alloc}", "y = Module.f0(Module.h, t, x)", "return t")
    found = checks(parse(KERNEL + chain + called + main), "RLX205")
    assert [
        check.verdict.value for check in found if check.function == "main" and check.severity.value != "none"
    ] == said


def test_functions_that_call_each_other_in_all_ways_end() -> None:
    names = [f"f{number}" for number in range(24)]
    calls = [f"y{number} = Module.{name}(s, x)" for number, name in enumerate(names)]
    all_ways = "".join(
        _function(name, f"s: {ANY}, x: {T4}", T4, *calls, LOOKS.format("s"), "return y0") for name in names
    )
    found = checks(parse(all_ways + _main(f"s = {STORAGE}", "y = Module.f0(s, x)", "return y")), "RLX505")
    assert {check.verdict.value for check in found if check.binding == "u"} <= {
        "always-wrong",
        "needs-runtime-check",
    }
