"""Random memory programs that compute: every tensor is twice the one before, on storages that may be too small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from relax_lint.replay import Input, Scalar, Tensor
from tests.rules.checking import DOUBLE

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"


@dataclass(frozen=True)
class Program:
    """A function of one float32 vector. Tensor number i lies on storage i modulo the number of `sizes`.

    `sizes` are written as `level` counts them: bytes for `R.memory`, elements of float32 for `R.vm`; `offsets`
    are those of the tensors, in bytes. The length of the vector is known from the signature, or (`cast`) from a
    match_cast.
    """

    level: str
    sizes: tuple[str, ...]
    offsets: tuple[str, ...]
    bound: int | None
    cast: bool
    branch: bool

    def text(self, name: str) -> str:
        """The function."""
        lines = [f"s{number} = {self._storage(size)}" for number, size in enumerate(self.sizes)]
        source = "v" if self.cast else "x"
        for number, offset in enumerate(self.offsets):
            lines.append(f"t{number} = {self._tensor(number, offset)}")
            lines.append(f"Module.double({source}, t{number})")
            source = f"t{number}"
        if self.branch:
            inside = [*lines, f"r = {source}"]
            lines = [
                "if c:",
                *(f"    {line}" for line in inside),
                "else:",
                f"    r = {'v' if self.cast else 'x'}",
            ]
            source = "r"
        cast = ['v = R.match_cast(x, R.Tensor((m,), "float32"))'] if self.cast else []
        bound = (
            [f'R.func_attr({{"tir_var_upper_bound": {{"m": {self.bound}}}}})']
            if self.bound is not None
            else []
        )
        type_ = 'R.Tensor(ndim=1, dtype="float32")' if self.cast else 'R.Tensor(("m",), "float32")'
        condition = ', c: R.Prim("bool")' if self.branch else ""
        body = [*bound, "m = T.int64()", *cast, *lines, f"return {source}"]
        head = ["@R.function(pure=False)", f"def {name}(x: {type_}{condition}):"]
        return "".join(f"    {line}\n" for line in (*head, *(f"    {line}" for line in body)))

    def result(self, inputs: Sequence[Input]) -> tuple[float, ...]:
        """The elements of what the function returns: 0, 1, 2, ... doubled once for each tensor."""
        vector, *condition = inputs
        assert isinstance(vector, Tensor)
        steps = 0 if condition == [Scalar(False)] else len(self.offsets)
        return tuple(float(element * 2**steps) for element in range(vector.extents[0]))

    def _storage(self, size: str) -> str:
        shape = f"R.shape([{size}])"
        if self.level == "R.memory":
            return f'R.memory.alloc_storage({shape}, R.prim_value(0), R.str("global"), R.dtype("uint8"))'
        return f'R.vm.alloc_storage({shape}, R.prim_value(0), R.dtype("float32"), R.str("global"))'

    def _tensor(self, number: int, offset: str) -> str:
        storage = f"s{number % len(self.sizes)}"
        return (
            f'{self.level}.alloc_tensor({storage}, R.prim_value({offset}), R.shape([m]), R.dtype("float32"))'
        )


def module(programs: Sequence[Program]) -> str:
    """The text of one module with functions `f0`, `f1`, ..."""
    functions = "\n".join(program.text(f"f{number}") for number, program in enumerate(programs))
    kernel = "".join(f"    {line}\n" for line in DOUBLE.strip().splitlines())
    return f"{HEADER}{kernel}\n{functions}"


def _programs(level: str, sizes: tuple[str, ...]) -> st.SearchStrategy[Program]:
    size = st.sampled_from(sizes)
    return st.builds(
        Program,
        level=st.just(level),
        # A tensor never lies on the storage of the one that it is computed from.
        sizes=st.tuples(size, size),
        # Kernels want their tensors at offset 0.
        offsets=st.lists(st.just("0"), min_size=1, max_size=3).map(tuple),
        # With `m` below one a storage of `4 * m - 4` bytes has no size that a check lets through.
        bound=st.none() | st.integers(1, 6),
        cast=st.booleans(),
        branch=st.booleans(),
    )


PROGRAMS = _programs("R.memory", ("0", "8", "16", "32", "4 * m", "8 * m", "4 * m - 4", "m * m")) | _programs(
    "R.vm", ("0", "2", "6", "m", "2 * m", "m - 1", "(m + 3) // 4 * 4", "m * m // 4")
)
"""One function."""
