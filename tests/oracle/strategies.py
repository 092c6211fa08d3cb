"""Random memory programs; they shrink towards one storage and one tensor of the extent `m`."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.oracle.program import (
    Branch,
    Cast,
    Function,
    Guard,
    Helper,
    InPlace,
    Invoke,
    Kernel,
    Kill,
    Other,
    Program,
    Step,
    Storage,
    Tensor,
    View,
)

_constants = st.sampled_from([0, 1, 2, 3, 4, 5, 8, 12, 16])
_small = st.sampled_from([1, 2, 3, 4])
_symbols = st.sampled_from(["m", "m", "m", "n", "k"])


def _filled(*templates: str) -> st.SearchStrategy[str]:
    return st.builds(
        lambda template, s, t, a, b, d: template.format(s=s, t=t, a=a, b=b, d=d),
        st.sampled_from(templates),
        _symbols,
        _symbols,
        _constants,
        _constants,
        _small,
    )


extents = _filled(
    "{s}",
    "m",
    "{d}",
    "{s} + {a}",
    "{s} * {d}",
    "({s} + {a}) // {d}",
    "T.min({s}, {a})",
    "T.max({s} - {a}, 0)",
    "{s} % {d}",
    "{s} * {t}",
    "{s} - {a}",
)
sizes = _filled(
    "{a}",
    "{s} * 4",
    "{s} * {a} + {b}",
    "({s} + {a}) // {d} * 16",
    "T.max({s}, {a}) * 4",
    "{s} * {t}",
    "{s} * 4 + {t} * {d}",
    "{s} - {a}",
    "{s} % {d} * {a}",
)
offsets = st.one_of(st.just("0"), st.just("0"), _filled("{a}", "{s}", "{s} * 4", "{a} - {s}", "{s} * {d}"))
# No symbol alone: a match_cast to a scalar parameter, or in a branch, gives the symbol the value of the extent
# instead of comparing the two, which neither the linter nor the evaluator follows.
cast_extents = st.sampled_from(["4", "m % 2", "n * 2", "m * 2", "n + 1", "k * 2"])
conditions = _filled(
    "{s} <= {a}", "{s} >= {d}", "{s} * {d} <= {a}", "{s} < {t}", "T.And({s} >= 0, {s} <= {a})"
)
dtypes = st.sampled_from(["float32", "float32", "int8", "float64", "bool", "int32x4", "float16"])


# Where it is not sizes that go wrong: tensors that fit, one over another.
roomy_sizes = st.sampled_from(["m * 4 + 64", "m * 8 + 32", "128"])
roomy_extents = st.sampled_from(["m", "m", "4", "m + 1"])
roomy_offsets = st.sampled_from(["0", "0", "0", "8", "m * 4"])
tidy_offsets = st.sampled_from(["0", "0", "0", "8", "n * 4", "k * 4", "k"])


@dataclass
class _Names:
    """What may be used so far."""

    storages: list[str] = field(default_factory=list)
    vectors: dict[str, str] = field(default_factory=dict)
    """Tensors of float32 with one extent, by name: the text of the extent."""


@st.composite
def functions(draw: Any, name: str, others: tuple[str, ...] = (), *, tidy: bool = False) -> Function:
    """One function. Kernels are only given tensors of the same extent. In a `tidy` one every tensor has its own
    storage, which may be too small, and is written at once: what is wrong with it can be fixed.
    """
    numbers = count()
    roomy = not tidy and draw(st.booleans())

    def fresh(letter: str) -> str:
        return f"{letter}{next(numbers)}"

    def place(known: _Names) -> list[Step]:
        steps: list[Step] = []
        level = draw(st.sampled_from(["memory", "memory", "vm", "builtin"]))
        if level == "builtin":
            storage = None
        elif known.storages and not tidy and draw(st.booleans()):
            storage = draw(st.sampled_from(known.storages))
            level = storage.split("_")[1]
        else:
            storage = f"{fresh('s')}_{level}"
            size = draw(roomy_sizes if roomy else sizes)
            dtype = "uint8" if level == "memory" else draw(st.sampled_from(["uint8", "float32"]))
            steps.append(Storage(storage, level, size, dtype))
            known.storages.append(storage)
        vector = roomy or tidy or draw(st.booleans())
        shape = (
            (draw(roomy_extents if roomy else extents),)
            if vector
            else tuple(draw(st.lists(extents, min_size=1, max_size=2)))
        )
        dtype = "float32" if vector else draw(dtypes)
        if storage is None:
            offset = "0"
        else:
            offset = draw(roomy_offsets if roomy else tidy_offsets if tidy else offsets)
        tensor = Tensor(fresh("t"), level, storage, offset, shape, dtype)
        if vector:
            known.vectors[tensor.name] = shape[0]
        steps.append(tensor)
        if tidy or (roomy and draw(st.booleans())):
            steps.append(Kernel(fresh("w"), "fill", (tensor.name,)))
        return steps

    def step(known: _Names, depth: int) -> list[Step]:
        kinds = ["place", "place", "guard", *([] if tidy else ["cast"])]
        kinds += (
            ["other", "view", "in place", "kernel", "kernel", "kernel", "kill"]
            if known.vectors.keys() - {"x"}
            else []
        )
        kinds += ["place", "place", "kernel", "kernel"] if roomy and known.vectors.keys() - {"x"} else []
        kinds += ["put"] if roomy and known.storages else []
        kinds += ["branch"] if depth else []
        kinds += ["invoke"] if others else []
        kind = draw(st.sampled_from(kinds))
        if kind == "place":
            return place(known)
        if kind == "guard":
            return [Guard(fresh("g"), draw(conditions))]
        if kind == "cast":
            return [Cast(fresh("u"), draw(cast_extents))]
        if kind == "invoke":
            return [Invoke(fresh("r"), draw(st.sampled_from(others)))]
        if kind == "branch":
            sides = [block(_Names([*known.storages], dict(known.vectors)), depth - 1) for _ in range(2)]
            return [Branch(fresh("b"), *sides)]
        if kind == "kill":
            which = draw(st.sampled_from(["tensor", *([] if tidy else ["storage"])]))
            targets = known.storages if which == "storage" else [v for v in known.vectors if v[0] == "t"]
            if not [t for t in targets if not t.startswith("x")]:
                return []
            return [Kill(fresh("d"), which, draw(st.sampled_from(targets)))]
        source = "x" if kind == "put" else draw(st.sampled_from(sorted(known.vectors.keys() - {"x"})))
        if kind == "in place":
            if source.startswith("o"):
                # TVM wants to know its shape, and that of a copy is not written.
                return []
            call = InPlace(fresh("i"), source, known.vectors[source])
            known.vectors[call.name] = call.extent
            return [call]
        if kind == "view":
            # Never less than all of it: what is known of contents is known of a tensor as a whole.
            kind = draw(st.sampled_from(["view", "reshape"]))
            extent = known.vectors[source]
            # TVM does not read a view that is certain to be too large.
            extent = draw(st.sampled_from([extent, extent, f"{extent} + 1"])) if kind == "reshape" else extent
            view = View(fresh("v"), kind, source, extent)
            known.vectors[view.name] = view.extent
            return [view]
        if kind == "other":
            ways = ["alias", "copy"] if tidy else ["alias", "copy", "back", "made"]
            other = Other(fresh("o"), draw(st.sampled_from(ways)), source)
            known.vectors[other.name] = known.vectors[source]
            return [other]
        if kind == "put":
            onto = draw(st.sampled_from(known.storages))
            put = Helper(fresh("p"), "put", (onto, "x"), draw(st.booleans()))
            known.vectors[put.name] = "m"
            return [put]
        more = [] if tidy else ["some", "maybe", "shift", "fill_0", "double_0"]
        kernel = draw(st.sampled_from(["fill", "double", "accumulate", *more]))
        if kernel == "maybe":
            return [Helper(fresh("h"), "maybe", (source,), draw(st.booleans()))]
        partners = [v for v, extent in known.vectors.items() if extent == known.vectors[source]]
        arguments = (
            (source,) if kernel in ("fill", "fill_0", "some") else (draw(st.sampled_from(partners)), source)
        )
        if kernel == "shift":
            return [Helper(fresh("h"), kernel, arguments, draw(st.booleans()))]
        return [Kernel(fresh("w"), kernel, arguments)]

    def block(known: _Names, depth: int) -> tuple[Step, ...]:
        length = draw(st.integers(1, 7 if depth == 2 else 3))
        return tuple(s for _ in range(length) for s in step(known, depth))

    known = _Names([], {"x": "m"})
    steps = (*place(known), *block(known, 2))
    result = draw(st.lists(st.sampled_from(sorted(known.vectors, reverse=True)), min_size=1, max_size=3))
    bounds = draw(st.lists(st.tuples(st.sampled_from(["m", "n"]), st.sampled_from([2, 4])), max_size=1))
    return Function(name, steps, tuple(result), tuple(bounds))


@st.composite
def programs(draw: Any, *, tidy: bool = False) -> Program:
    """One or two functions, of which the second may call the first."""
    first = draw(functions("f", tidy=tidy))
    if not draw(st.booleans()):
        return Program((first,))
    return Program((first, draw(functions("g", ("f",), tidy=tidy))))


def some(count: int, number: int, *, tidy: bool) -> list[Program]:
    """The programs that a seed makes."""
    found: list[Program] = []

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(tidy=tidy))
    def collect(program: Program) -> None:
        found.append(program)

    collect()
    return found
