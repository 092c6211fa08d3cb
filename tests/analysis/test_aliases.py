"""Which values share a register, and which share bytes."""

# TVMScript looks like Python but is not: every binding counts, also one that nothing reads.
# ruff: noqa: F841, SIM108

from __future__ import annotations

from typing import Any

from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from relax_lint.analysis.aliases import Aliases
from relax_lint.model.builder import build_program


class Named:
    """The aliases of `main`, by the names in the IR (which are unique in these programs)."""

    def __init__(self, module: Any) -> None:
        self.function = next(f for f in build_program(module).functions if f.name == "main")
        self._aliases = Aliases(self.function)
        self._values = {value.name: value.id for value in self.function.values.values()}

    def _name(self, value: int) -> str:
        return self.function.values[value].name

    def register(self, name: str) -> str:
        return self._name(self._aliases.register(self._values[name]))

    def roots(self, name: str) -> set[str]:
        paths = map(self._aliases.roots.path, self._aliases.roots_of(self._values[name]))
        return {".".join([self._name(path.value), *map(str, path.fields)]) for path in paths}


@I.ir_module
class Names:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([16 * n]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([n, 4]), "float32")
        b = a
        same = R.match_cast(b, R.Tensor((n, 4), "float32"))
        looser = R.match_cast(b, R.Tensor("float32", ndim=2))
        back = R.match_cast(looser, R.Tensor((n, 4), "float32"))
        view = R.memory.view(a, R.shape([4, n]))
        shaped = R.reshape(view, R.shape([n, 4]))
        pair = (a, x)
        other = pair
        field = other[1]
        if c:
            r = a
        else:
            r = x
        p = R.call_packed("pair", x, ty_args=R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")))
        p0 = p[0]
        p1 = p[1]
        again = (p0, p1)
        swapped = (p1, p0)
        over = R.call_inplace_packed("f", a, x, inplace_indices=[1], ty_args=R.Tensor((n, 4), "float32"))
        return (r, over)


def test_trivial_bindings_share_a_register() -> None:
    names = Named(Names)
    assert {name: names.register(name) for name in ("b", "same", "field", "other")} == {
        "b": "a",
        "same": "a",
        "field": "x",
        "other": "pair",
    }


def test_whatever_makes_a_new_object_has_its_own_register() -> None:
    names = Named(Names)
    for name in ("a", "looser", "back", "view", "shaped", "pair", "r", "p0", "again", "swapped", "over"):
        assert names.register(name) == name


def test_views_fields_and_branches_share_bytes() -> None:
    names = Named(Names)
    for name in ("b", "same", "looser", "back", "view"):
        assert names.roots(name) == {"a"}, name
    # `R.reshape` is a kernel where LegalizeOps has its way, and a view where RewriteDataflowReshape has.
    assert names.roots("shaped") == {"a", "shaped"}
    assert names.roots("pair") == names.roots("other") == names.roots("r") == {"a", "x"}
    assert names.roots("field") == names.roots("over") == {"x"}
    assert names.roots("p0") == {"p.0"}
    assert names.roots("again") == names.roots("p") == {"p.0", "p.1"}
