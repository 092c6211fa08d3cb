"""Random programs, the same ones for a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.oracle.handed.kernels import ARITY
from tests.oracle.handed.program import (
    FILL_KEPT,
    FIRST,
    KEEP,
    KEPT,
    TWINS,
    Assert,
    Branch,
    Call,
    Cast,
    Closure,
    Field,
    Function,
    InPlace,
    Invoke,
    Kernel,
    Kill,
    Output,
    Packed,
    Pair,
    Place,
    Program,
    Rename,
    Step,
    Store,
    symbol,
)
from tests.oracle.handed.scope import Scope

_KERNELS = ("fill", "twice", "copy", "copy", "turn", "from_zero", "from_zero", "add", "sly")


def some(count: int, seed: int) -> Iterator[Program]:
    """Programs, the same ones for a seed."""
    for number in range(count):
        yield _Writer(random.Random(f"{seed} {number}")).program()


class _Writer:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._count = 0
        self._functions: list[Function] = []
        # Where there are few forms in a program, one of them does not hide what is said of another.
        themes = ("functions", "functions", "sizes", "sizes", "asserts", "packed", "all")
        self._theme = chance.choice(themes)

    def program(self) -> Program:
        """A program."""
        for _ in range(self._chance.choice((0, 1, 1, 2)) if self._has("functions") else 0):
            self._functions.append(self._function(private=True))
        scope = Scope({"x": "n", "y": "4"}, extents=["n"])
        steps = self._place(scope)
        for _ in range(self._chance.randint(2, 6)):
            steps += self._step(scope, 1)
        names = list(scope.tensors)
        kept = self._chance.sample(names, min(len(names), self._chance.choice((1, 1, 2, 3))))
        return Program(tuple(self._functions), tuple(steps), tuple(kept))

    def _has(self, theme: str) -> bool:
        return self._theme in (theme, "all")

    def _fresh(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    # -- functions -------------------------------------------------------------------------------

    def _function(self, *, private: bool, outside: Scope | None = None) -> Function:
        """A function of the module, or (`outside`) one that captures."""
        name = self._fresh("f" if private else "g")
        parameters = tuple(f"{name}_p{i}" for i in range(self._chance.choice((1, 1, 2))))
        kinds = ("4", "4", "any", "own") if private else ("4", "any")
        types = tuple(self._chance.choice(kinds) for _ in parameters)
        extents = {"4": "4", "any": None}
        known = {p: extents.get(t, symbol(p)) for p, t in zip(parameters, types, strict=True)}
        captured = {} if outside is None else outside.tensors
        if private and self._chance.random() < 0.25:
            return self._caller(name)
        numeric = {n: e if e is not None and e.isdigit() else None for n, e in captured.items()}
        scope = Scope(
            {**numeric, **known},
            extents=[symbol(p) for p, t in zip(parameters, types, strict=True) if t == "own"],
        )
        if outside is not None:
            scope.inner, scope.closures = dict(outside.inner), dict(outside.closures)
        steps = self._place(scope) if self._chance.random() < 0.3 else []
        for _ in range(self._chance.choice((0, 1, 1, 2))):
            steps += self._step(scope, 0)
        if outside is not None and self._chance.random() < 0.5:
            # One function inside calls another one, or has one inside of itself.
            nested = not outside.is_inside and self._chance.random() < 0.4
            scope.is_inside = True
            if nested:
                steps += self._inner(scope, 0)
            elif scope.inner or scope.closures:
                steps += self._again(scope, 0)
        # Mostly what the function made, or was given.
        result = self._chance.choice([*list(scope.tensors)[len(captured) :], *scope.tensors])
        recursive = private and self._chance.random() < 0.3
        hidden = private and self._chance.random() < 0.5
        return Function(name, parameters, types, tuple(steps), result, recursive, hidden)

    def _caller(self, name: str) -> Function:
        """A function that calls the closure that it is given."""
        call = Invoke(self._fresh("v"), f"{name}_p0", (f"{name}_p1",))
        recursive, hidden = self._chance.random() < 0.5, self._chance.random() < 0.7
        parameters, types = (f"{name}_p0", f"{name}_p1"), ("closure", "any")
        return Function(name, parameters, types, (call,), call.name, recursive, hidden)

    def _fitting(self, scope: Scope, function: Function) -> tuple[str, ...] | None:
        found = []
        for kind in function.types:
            fits = [n for n, e in scope.tensors.items() if kind != "4" or e == "4"]
            if kind == "closure":
                fits = [name for name, count in scope.closures.items() if count == 1]
            if not fits:
                return None
            found.append(self._pick(scope, fits))
        return tuple(found)

    def _pick(self, scope: Scope, names: list[str]) -> str:
        """Mostly what the function made."""
        own = [name for name in names if name not in ("x", "y")]
        return self._chance.choice(own if own and self._chance.random() < 0.8 else names)

    # -- steps -----------------------------------------------------------------------------------

    def _place(self, scope: Scope, depth: int = 0) -> list[Step]:
        """A tensor, mostly one that is written."""
        steps: list[Step] = []
        chance = self._chance
        if not scope.storages or chance.random() < 0.4:
            size = (
                "128"
                if not self._has("sizes") or chance.random() < 0.6
                else chance.choice(["16", "0", *(f"{e} * 4" for e in scope.extents)])
            )
            steps.append(Store(self._fresh("s"), size))
            scope.storages.append(steps[0].name)
        extents = ["4"] * 6 + (["0", *scope.extents * 2] if self._has("sizes") else [])
        offsets = [0, 16, 16, 4, 64] if self._theme == "functions" else [0, 0, 16, 16, 4, 64]
        offsets += [2, 2] * self._has("sizes")
        tensor = Place(
            self._fresh("t"), chance.choice(scope.storages), chance.choice(offsets), chance.choice(extents)
        )
        scope.tensors[tensor.name] = tensor.extent
        steps.append(tensor)
        if chance.random() < 0.85:
            steps.append(Kernel(self._fresh("k"), "fill", (tensor.name,)))
        return steps

    def _step(self, scope: Scope, depth: int) -> list[Step]:
        kinds = ["kernel"] * 3 + ["place", "output", "in place", "in place", "rename"]
        if self._has("functions"):
            kinds += ["call"] * 4 * bool(self._functions)
            kinds += ["inner", "inner", "closure", "closure", "pair", "field", "branch"] * (depth > 0)
            kinds += ["again"] * 2 * bool(scope.inner or scope.closures)
        if self._has("sizes"):
            kinds += ["made", "made", "cast", "cast", "place", "branch"]
        if self._has("asserts"):
            kinds += ["assert"] * 4 + ["flag"] * 3
            kinds += ["kill"] * 2 * (depth > 0)
        if self._has("packed"):
            kinds += ["packed"] * 5
        kind = self._chance.choice(kinds)
        return getattr(self, "_" + kind.replace(" ", "_"))(scope, depth)  # type: ignore[no-any-return]

    def _operands(self, scope: Scope, count: int) -> tuple[str, ...]:
        first = self._pick(scope, list(scope.tensors))
        alike = [n for n, e in scope.tensors.items() if e == scope.tensors[first]]
        if self._has("sizes") and self._chance.random() < 0.1:
            alike = list(scope.tensors)
        found = [first, *(self._pick(scope, alike) for _ in range(count - 1))]
        self._chance.shuffle(found)
        scope.used |= set(found)
        return tuple(found)

    def _kernel(self, scope: Scope, depth: int) -> list[Step]:
        kernel = self._chance.choice(_KERNELS + ("from_zero",) * 5 * (self._theme in ("functions", "packed")))
        return [Kernel(self._fresh("k"), kernel, self._operands(scope, ARITY[kernel]))]

    def _output(self, scope: Scope, depth: int) -> list[Step]:
        kernel = self._chance.choice(("copy", "turn", "from_zero", "from_zero", "add"))
        given = self._operands(scope, ARITY[kernel] - 1)
        extent = scope.tensors[given[0]]
        if extent is None:
            return []
        step = Output(self._fresh("o"), kernel, given, extent)
        scope.tensors[step.name] = extent
        return [step]

    def _in_place(self, scope: Scope, depth: int) -> list[Step]:
        kernel = self._chance.choice(("twice", "sly"))
        given = self._operands(scope, ARITY[kernel])
        extent = scope.tensors[given[0]]
        if extent is None or given[0] in ("x", "y"):
            return []
        step = InPlace(self._fresh("i"), kernel, given, extent)
        scope.tensors[step.name] = extent
        scope.used |= {step.name}
        return [step]

    def _rename(self, scope: Scope, depth: int) -> list[Step]:
        source = self._pick(scope, list(scope.tensors))
        extent = scope.tensors[source]
        step = Rename(self._fresh("r"), source, extent if self._chance.random() < 0.5 else None)
        scope.tensors[step.name] = extent
        scope.used |= {source, step.name}
        return [step]

    # -- functions, tuples and branches ----------------------------------------------------------------

    def _call(self, scope: Scope, depth: int) -> list[Step]:
        function = self._chance.choice(self._functions)
        given = self._fitting(scope, function)
        return [] if given is None else self._called(scope, Call(self._fresh("v"), function.name, given))

    def _called(self, scope: Scope, step: Call | Invoke) -> list[Step]:
        """A call, and mostly a result that machines take: they forget the type of what a closure returns."""
        scope.tensors[step.name] = None
        scope.used |= {step.name, *step.arguments}
        steps: list[Step] = [step]
        if self._chance.random() < 0.7 and (isinstance(step, Invoke) or step.inner):
            del scope.tensors[step.name]
            packed = Packed(self._fresh("h"), FIRST, (step.name, step.name))
            scope.tensors[packed.name] = None
            steps.append(packed)
            step = packed  # type: ignore[assignment]
        if self._chance.random() < 0.4:
            cast = Cast(self._fresh("u"), step.name, "4")
            scope.tensors[cast.name] = "4"
            steps.append(cast)
        return steps

    def _inner(self, scope: Scope, depth: int) -> list[Step]:
        function = self._function(private=False, outside=scope)
        scope.inner[function.name] = function
        given = self._fitting(scope, function)
        if given is None:
            return [function]
        return [function, *self._called(scope, Call(self._fresh("v"), function.name, given, inner=True))]

    def _again(self, scope: Scope, depth: int) -> list[Step]:
        if scope.inner and (not scope.closures or self._chance.random() < 0.5):
            function = self._chance.choice(list(scope.inner.values()))
            given = self._fitting(scope, function)
            call = Call(self._fresh("v"), function.name, given or (), inner=True)
            return [] if given is None else self._called(scope, call)
        closure = self._chance.choice(list(scope.closures))
        given = tuple(self._pick(scope, self._fours(scope)) for _ in range(scope.closures[closure]))
        return self._called(scope, Invoke(self._fresh("v"), closure, given))

    def _fours(self, scope: Scope) -> list[str]:
        return [name for name, extent in scope.tensors.items() if extent == "4"]

    def _closure(self, scope: Scope, depth: int) -> list[Step]:
        if not self._functions:
            return []
        function = self._chance.choice(self._functions)
        given = self._chance.randint(0, len(function.parameters))
        held = self._fitting(scope, function)
        if held is None:
            return []
        scope.used |= set(held)
        step = Closure(self._fresh("m"), function.name, held[given:])
        steps: list[Step] = [step]
        scope.closures[step.name] = given
        if self._chance.random() < 0.4:
            names = self._chance.choices(list(scope.closures), k=2)
            pair = Pair(self._fresh("d"), tuple(names))
            index = self._chance.randint(0, 1)
            taken = Field(self._fresh("e"), pair.name, index)
            scope.closures[taken.name] = scope.closures[names[index]]
            steps += [pair, taken]
        return [*steps, *(self._again(scope, depth) if self._chance.random() < 0.7 else [])]

    def _pair(self, scope: Scope, depth: int) -> list[Step]:
        names = tuple(self._pick(scope, list(scope.tensors)) for _ in range(2))
        made = self._chance.random() < (0.5 if self._has("sizes") else 0.2)
        step = Pair(self._fresh("d"), names, made)
        scope.pairs[step.name] = tuple(None if made else scope.tensors[name] for name in names)
        scope.used |= set(names)
        return [step, *self._field(scope, depth)]

    def _field(self, scope: Scope, depth: int) -> list[Step]:
        if not scope.pairs:
            return []
        pair, index = self._chance.choice(list(scope.pairs)), self._chance.randint(0, 1)
        step = Field(self._fresh("e"), pair, index)
        scope.tensors[step.name] = scope.pairs[pair][index]
        scope.used |= {step.name}
        return [step]

    def _branch(self, scope: Scope, depth: int) -> list[Step]:
        if depth == 0:
            return []
        sides, results = [], []
        for _ in range(2):
            inside = scope.copy()
            steps = [step for _ in range(self._chance.randint(0, 2)) for step in self._step(inside, 0)]
            sides.append(tuple(steps))
            results.append((name := self._pick(inside, list(inside.tensors)), inside.tensors[name]))
        step = Branch(self._fresh("b"), sides[0], results[0][0], sides[1], results[1][0])
        scope.tensors[step.name] = results[0][1] if results[0][1] == results[1][1] else None
        scope.used |= {step.name, results[0][0], results[1][0]}
        return [step]

    # -- sizes that are not known -------------------------------------------------------------------

    def _made(self, scope: Scope, depth: int) -> list[Step]:
        names = tuple(self._pick(scope, list(scope.tensors)) for _ in range(2))
        pair = Pair(self._fresh("d"), names, made=True)
        taken = Field(self._fresh("e"), pair.name, self._chance.randint(0, 1))
        scope.tensors[taken.name] = None
        scope.used |= {*names, taken.name}
        return [pair, taken]

    def _cast(self, scope: Scope, depth: int) -> list[Step]:
        unknown = [name for name, extent in scope.tensors.items() if extent is None]
        if not unknown:
            return []
        source = self._chance.choice(unknown)
        extent = self._chance.choice(("4", f"q{self._count}", f"q{self._count}"))
        step = Cast(self._fresh("u"), source, extent)
        scope.tensors[step.name] = extent
        scope.used |= {source, step.name}
        if depth:
            scope.extents += [] if extent == "4" else [extent]
        return [step]

    def _flag(self, scope: Scope, depth: int) -> list[Step]:
        store = Store(self._fresh("s"), "16")
        flag = Place(self._fresh("l"), store.name, self._chance.choice((0, 0, 4)), "", flag=True)
        scope.flags.append(flag.name)
        steps: list[Step] = [store, flag]
        if self._chance.random() < 0.75:
            steps.append(
                Kernel(self._fresh("k"), "above", (self._pick(scope, list(scope.tensors)), flag.name))
            )
        if self._chance.random() < 0.3:
            over = Place(self._fresh("t"), store.name, 0, "4")
            steps += [over, Kernel(self._fresh("k"), "fill", (over.name,))]
            scope.tensors[over.name] = "4"
        return steps

    def _assert(self, scope: Scope, depth: int) -> list[Step]:
        is_made = depth > 0 and len(scope.flags) == 1 and self._chance.random() < 0.5
        before = self._flag(scope, depth) if is_made else []
        count = self._chance.choice((0, 0, 1, 2))
        shown = tuple(self._pick(scope, list(scope.tensors)) for _ in range(count))
        return [*before, Assert(self._fresh("a"), self._chance.choice(scope.flags[-2:]), shown)]

    def _kill(self, scope: Scope, depth: int) -> list[Step]:
        plain = [n for n in (*scope.tensors, *scope.flags) if n[0] in "tl" and n not in scope.used]
        if not plain:
            return []
        target = self._chance.choice(plain)
        if self._chance.random() < 0.8:
            scope.tensors.pop(target, None)
            scope.flags = [flag for flag in scope.flags if flag != target]
        return [Kill(self._fresh("z"), target)]

    def _packed(self, scope: Scope, depth: int) -> list[Step]:
        what = self._chance.choice((FIRST, KEEP, KEEP, KEPT, KEPT, FILL_KEPT, TWINS))
        if what == TWINS and not self._fours(scope):
            return []
        if what == TWINS:
            step = Packed(self._fresh("d"), TWINS, (self._pick(scope, self._fours(scope)),))
            scope.pairs[step.name] = ("4", "4")
            return [step, *self._field(scope, depth)]
        if what in (KEPT, FILL_KEPT) and not scope.kept:
            what = KEEP
        scope.kept = scope.kept or what == KEEP
        one = self._pick(scope, list(scope.tensors))
        two = self._pick(scope, list(scope.tensors))
        given = {FIRST: (one, two), KEEP: (one,), KEPT: (), FILL_KEPT: (one,)}[what]
        step = Packed(self._fresh("h"), what, given)
        scope.tensors[step.name] = None
        scope.used |= {step.name, *given}
        if self._chance.random() < 0.4:
            return [step]
        cast = Cast(self._fresh("u"), step.name, "4")
        scope.tensors[cast.name] = "4"
        if what != KEPT or self._chance.random() < 0.5:
            return [step, cast]
        return [step, cast, Kernel(self._fresh("k"), "from_zero", (cast.name, cast.name))]
