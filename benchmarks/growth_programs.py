"""Programs that are large in one direction only, as TVMScript, for the measurement of growth."""

from __future__ import annotations

from collections.abc import Callable, Iterable

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n"
STORE = 'R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")'
TENSOR = 'R.memory.alloc_tensor({storage}, {offset}, R.shape([{shape}]), "float32")'
COPY = """    @T.prim_func(private=True)
    def copy(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(4)):
            with T.sblock("copy"):
                v = T.axis.spatial(T.int64(4), i)
                B[v] = A[v]
"""


def module(functions: Iterable[str], name: str = "Module") -> str:
    """A module of functions that are indented already."""
    return f"{HEAD}@I.ir_module\nclass {name}:\n" + "\n".join(functions)


def function(name: str, parameters: str, lines: Iterable[str], attributes: str = "") -> str:
    """One impure function of some lines."""
    body = "".join(f"        {line}\n" for line in lines)
    return f"    @R.function(pure=False)\n    def {name}({parameters}):\n{attributes}{body}"


def storage(name: str, size: object) -> str:
    """A storage of so many bytes."""
    return f"{name} = {STORE.format(size=size)}"


def tensor(name: str, on: str, shape: object, offset: object = 0) -> str:
    """A tensor on a storage."""
    return f"{name} = {TENSOR.format(storage=on, offset=offset, shape=shape)}"


def used(name: str, source: str = "x") -> str:
    """A kernel that fills a tensor."""
    return f"_{name} = cls.copy({source}, {name})"


def symbols(count: int) -> list[str]:
    """The declarations of n0, n1, ..."""
    return [f"n{i} = T.int64()" for i in range(count)]


X = 'x: R.Tensor((4,), "float32")'


def _plain(index: int) -> str:
    body = [storage("s", 16), tensor("t", "s", 4), used("t"), "return t"]
    return function(f"f{index}", X, ["cls = Module", *body])


def functions(n: int) -> str:
    """Functions that have nothing to do with each other."""
    return module([COPY, *map(_plain, range(n))])


def _calls(index: int, times: int) -> str:
    if index == 0:
        return _plain(0)
    own = ["cls = Module", storage("s", 16), tensor("t", "s", 4), used("t")]
    calls = [f"c{i} = cls.f{index - 1}({'t' if i == 0 else f'c{i - 1}'})" for i in range(times)]
    return function(f"f{index}", X, [*own, *calls, f"return c{times - 1}"])


def chain(n: int) -> str:
    """A chain of calls."""
    return module([COPY, *(_calls(index, 1) for index in range(n))])


def twice(n: int) -> str:
    """Each function calls the one below twice."""
    return module([COPY, *(_calls(index, 2) for index in range(n))])


def storages(n: int) -> str:
    """Storages with one tensor each."""
    lines = ["cls = Module"]
    for i in range(n):
        lines += [storage(f"s{i}", 16), tensor(f"t{i}", f"s{i}", 4), used(f"t{i}")]
    return module([COPY, function("f", X, [*lines, f"return t{n - 1}"])])


def on_one_storage(n: int) -> str:
    """Tensors side by side on one storage, all read at the end."""
    lines = ["cls = Module", storage("s", 16 * n)]
    for i in range(n):
        lines += [tensor(f"t{i}", "s", 4, 16 * i), used(f"t{i}")]
    return module([COPY, function("f", X, [*lines, f"return ({', '.join(f't{i}' for i in range(n))},)"])])


def reused(n: int) -> str:
    """Tensors one after the other on the same bytes of one storage."""
    lines = ["cls = Module", storage("s", 16), tensor("t0", "s", 4), used("t0")]
    for i in range(1, n):
        lines += [tensor(f"t{i}", "s", 4), used(f"t{i}")]
    return module([COPY, function("f", X, [*lines, f"return t{n - 1}"])])


def joined(n: int) -> str:
    """Symbols in one expression."""
    shape = "+".join(f"n{i}" for i in range(n))
    parameters = ", ".join(f'x{i}: R.Tensor(("n{i}",), "float32")' for i in range(n))
    lines = [*symbols(n), storage("s", f"4*({shape})"), tensor("t", "s", shape), "return t"]
    return module([function("f", parameters, lines)])


def apart(n: int) -> str:
    """Symbols that nothing connects, each with a tensor."""
    parameters = ", ".join(f'x{i}: R.Tensor(("n{i}",), "float32")' for i in range(n))
    lines = symbols(n)
    for i in range(n):
        lines += [storage(f"s{i}", f"4*n{i}"), tensor(f"t{i}", f"s{i}", f"n{i}")]
    return module([function("f", parameters, [*lines, "return x0"])])


def casts(n: int) -> str:
    """Casts, each to a symbol of its own, and a tensor after each."""
    lines = symbols(n)
    for i in range(n):
        lines += [f'y{i} = R.match_cast(x{i}, R.Tensor((n{i},), "float32"))']
        lines += [storage(f"s{i}", f"4*n{i}"), tensor(f"t{i}", f"s{i}", f"n{i}")]
    parameters = ", ".join(f'x{i}: R.Tensor(ndim=1, dtype="float32")' for i in range(n))
    return module([function("f", parameters, [*lines, "return x0"])])


def asserts(n: int) -> str:
    """Checks of one symbol, and a tensor after each."""
    lines = ["n = T.int64()"]
    for i in range(n):
        lines.append(f'R.assert_op(n <= {1000 - i}, [n], format="n = {{}}")')
        lines += [storage(f"s{i}", 4000), tensor(f"t{i}", f"s{i}", "n")]
    return module([function("f", 'x: R.Tensor(("n",), "float32")', [*lines, "return x"])])


def nested_ifs(n: int) -> str:
    """Branches within branches."""
    parameters = X + ', c: R.Tensor((), "bool")'
    lines = ["cls = Module"]
    for depth in range(n):
        indent = "    " * depth
        lines += [f"{indent}if c:", f"{indent}    {storage(f's{depth}', 16)}"]
        lines += [f"{indent}    {tensor(f't{depth}', f's{depth}', 4)}", f"{indent}    {used(f't{depth}')}"]
        lines += [f"{indent}    r{depth} = t{depth}", f"{indent}else:"]
    lines.append("    " * n + f"r{n - 1} = x")
    for depth in reversed(range(n - 1)):
        lines.append("    " * (depth + 1) + f"r{depth} = r{depth + 1}")
    return module([COPY, function("f", parameters, [*lines, "return r0"])])


def ifs(n: int) -> str:
    """Branches one after the other."""
    lines = ["cls = Module"]
    for i in range(n):
        lines += [f"if c{i}:", f"    {storage(f's{i}', 16)}", f"    {tensor(f't{i}', f's{i}', 4)}"]
        lines += [f"    {used(f't{i}')}", f"    r{i} = t{i}", "else:", f"    r{i} = x"]
    conditions = ", ".join(f'c{i}: R.Tensor((), "bool")' for i in range(n))
    return module([COPY, function("f", f"{X}, {conditions}", [*lines, f"return r{n - 1}"])])


def kernel_statements(n: int) -> str:
    """Statements in one kernel."""
    buffer = f'T.Buffer((T.int64({n + 1}),), "float32")'
    lines = "".join(f"        B[{i}] = A[{i}] + A[{i + 1}]\n" for i in range(n))
    kernel = f"    @T.prim_func(private=True)\n    def k(A: {buffer}, B: {buffer}):\n{lines}"
    body = ["cls = Module", storage("s", 4 * n + 4), tensor("t", "s", n + 1), "_t = cls.k(x, t)", "return t"]
    return module([kernel, function("f", f'x: R.Tensor(({n + 1},), "float32")', body)])


def prim_funcs(n: int) -> str:
    """Kernels, each called once."""
    kernels = [COPY.replace("def copy(", f"def copy{i}(") for i in range(n)]
    lines = ["cls = Module"]
    for i in range(n):
        lines += [storage(f"s{i}", 16), tensor(f"t{i}", f"s{i}", 4), f"_t{i} = cls.copy{i}(x, t{i})"]
    return module([*kernels, function("f", X, [*lines, f"return t{n - 1}"])])


def terms(n: int) -> str:
    """Terms of the extent of one tensor of two symbols."""
    shape = "+".join(f"n//{i + 2}" if i % 2 else f"m//{i + 2}" for i in range(n))
    lines = ["n = T.int64()", "m = T.int64()", storage("s", f"4*({shape})"), tensor("t", "s", shape)]
    return module([function("f", 'x: R.Tensor(("n", "m"), "float32")', [*lines, "return t"])])


def dimensions(n: int) -> str:
    """Dimensions of one tensor."""
    shape = ", ".join(["n", *("1" for _ in range(n - 1))])
    lines = ["n = T.int64()", storage("s", "4*n"), tensor("t", "s", shape), "return t"]
    return module([function("f", 'x: R.Tensor(("n",), "float32")', lines)])


def kills(n: int) -> str:
    """Storages and tensors that are killed again."""
    lines = ["cls = Module"]
    for i in range(n):
        lines += [storage(f"s{i}", 16), tensor(f"t{i}", f"s{i}", 4), used(f"t{i}")]
        lines += [f"_a{i} = R.memory.kill_tensor(t{i})", f"_b{i} = R.memory.kill_storage(s{i})"]
    return module([COPY, function("f", X, [*lines, "return x"])])


def tuple_width(n: int) -> str:
    """Fields of one tuple, each read."""
    lines = [f"p = ({', '.join('x' for _ in range(n))},)", *(f"g{i} = p[{i}]" for i in range(n))]
    return module([function("f", X, [*lines, f"return g{n - 1}"])])


def tuple_depth(n: int) -> str:
    """Tuples of two of the tuples before."""
    lines = ["p0 = (x, x)", *(f"p{i} = (p{i - 1}, p{i - 1})" for i in range(1, n))]
    return module([function("f", X, [*lines, "return x"])])


def views(n: int) -> str:
    """Views of views."""
    lines = ["v0 = R.memory.view(x, R.shape([4]), R.dtype('float32'), R.prim_value(0))"]
    for i in range(1, n):
        lines.append(f"v{i} = R.memory.view(v{i - 1}, R.shape([4]), R.dtype('float32'), R.prim_value(0))")
    return module([function("f", X, [*lines, f"return v{n - 1}"])])


def aliases(n: int) -> str:
    """Names of one value."""
    lines = ["y0 = x", *(f"y{i} = y{i - 1}" for i in range(1, n))]
    return module([function("f", X, [*lines, f"return y{n - 1}"])])


def constants(n: int) -> str:
    """Constants that are bound."""
    lines = [f'k{i} = R.const([{i}.0, 1.0, 2.0, 3.0], "float32")' for i in range(n)]
    return module([function("f", X, [*lines, f"return k{n - 1}"])])


def findings(n: int) -> str:
    """Tensors that do not always fit, each with a fix."""
    lines = ["n = T.int64()"]
    for i in range(n):
        lines += [storage(f"s{i}", 16), tensor(f"t{i}", f"s{i}", "n")]
    return module([function("f", 'x: R.Tensor(("n",), "float32")', [*lines, "return x"])])


def fixes(n: int) -> str:
    """The same with a bound of its own for each."""
    lines = ["n = T.int64()"]
    for i in range(n):
        lines += [storage(f"s{i}", 16 * (i + 1)), tensor(f"t{i}", f"s{i}", "n")]
    return module([function("f", 'x: R.Tensor(("n",), "float32")', [*lines, "return x"])])


def units(n: int) -> str:
    """Modules in one file."""
    texts = [module([COPY, _plain(0)], f"Module{i}").removeprefix(HEAD) for i in range(n)]
    return HEAD + "\n\n".join(
        text.replace("cls = Module\n", f"cls = Module{i}\n") for i, text in enumerate(texts)
    )


def comments(n: int) -> str:
    """Findings that comments accept."""
    lines = findings(n).split("\n")
    return "\n".join(
        f"{one}  # relax-lint: ignore[RLX101]" if "alloc_tensor" in one else one for one in lines
    )


PROGRAMS: dict[str, Callable[[int], str]] = {
    "functions": functions,
    "chain depth": chain,
    "calls twice at each level": twice,
    "storages": storages,
    "tensors on a storage": on_one_storage,
    "tensors on the same bytes": reused,
    "symbols joined": joined,
    "symbols apart": apart,
    "casts": casts,
    "asserts": asserts,
    "nested Ifs": nested_ifs,
    "sequential Ifs": ifs,
    "statements in a kernel": kernel_statements,
    "PrimFuncs": prim_funcs,
    "terms of a shape": terms,
    "dimensions": dimensions,
    "kills": kills,
    "tuple width": tuple_width,
    "tuple depth": tuple_depth,
    "views": views,
    "aliases": aliases,
    "constants": constants,
    "findings": findings,
    "fixes": fixes,
    "units": units,
    "comments": comments,
}
"""By direction; each takes the size."""
