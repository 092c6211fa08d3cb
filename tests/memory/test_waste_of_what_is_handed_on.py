"""RLX602 of storages that others may put tensors on: how much of them is wasted is then not known. A twin beside each
keeps its storage to itself.
"""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

STORAGE = 's = R.memory.alloc_storage(R.shape([1024]), 0, "global", "uint8")'
TENSOR = 't = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")'
LARGE = TENSOR.replace("[4]", "[200]")
T4, T200 = 'R.Tensor((4,), "float32")', 'R.Tensor((200,), "float32")'
WASTED, FINE, UNKNOWN = "always-wrong", "always-fine", "needs-runtime-check"
FUNCTION = """
@R.function(pure=False)
def main():
    {body}
"""
OTHERS = f"""
@R.function(private=True, pure=False)
def put(s: R.Object):
    {LARGE}
    return t

@R.function(private=True, pure=False)
def leave(s: R.Object):
    {TENSOR}
    return t

@R.function(private=True, pure=False)
def pass_on(s: R.Object):
    t = R.call_packed("tests.put", s, ty_args={T200})
    return t
"""
CASES = [
    # What is returned, alone, in a tuple, and not at all.
    ((STORAGE, "return s"), UNKNOWN),
    ((STORAGE, TENSOR, "return (s, t)"), UNKNOWN),
    ((STORAGE, TENSOR, "return t"), WASTED),
    ((STORAGE, TENSOR, "return (t, t)"), WASTED),
    # What goes to a packed function: the storage, or a tensor on it.
    ((STORAGE, f't = R.call_packed("tests.put", s, ty_args={T200})', "return t"), UNKNOWN),
    ((STORAGE, f'z = (s, s)\n    t = R.call_packed("tests.put", z, ty_args={T200})', "return t"), UNKNOWN),
    ((STORAGE, TENSOR, 'u = R.call_packed("tests.look", t, ty_args=R.Tuple)', "return t"), WASTED),
    # What functions of the module put there is counted.
    ((STORAGE, "t = Module.put(s)", "return t"), FINE),
    ((STORAGE, "t = Module.leave(s)", "return t"), WASTED),
    ((STORAGE, "t = Module.pass_on(s)", "return t"), UNKNOWN),
    # What another function puts there makes a good plan only better.
    ((STORAGE, LARGE, "return (s, t)"), FINE),
]


@pytest.mark.parametrize(("lines", "verdict"), CASES)
def test_what_others_put_on_a_storage_is_not_known(lines: tuple[str, ...], verdict: str) -> None:
    module = parse(OTHERS + FUNCTION.format(body="\n    ".join(lines)))
    (told,) = (one for one in checks(module, "RLX602") if one.function == "main")
    assert told.verdict.value == verdict
