"""Every kind of fact that a proof may use: what it says, and who makes it true.

`docs/facts.md` is made of this table (`make facts`), with the tests that try to violate each kind.
"""

from __future__ import annotations

from enum import Enum

from relax_lint.support.lazy_dataclass import dataclass


class FactKind(Enum):
    """Where a fact comes from; the prover tries to do without the later kinds.

    `ENFORCED` facts hold on every run that reaches the operation (the VM reads the extent from a
    real tensor, an assert or match_cast before it would have stopped the run, the branch
    condition was taken). `GLOBAL` facts are the assumptions that the tool states once for all
    (`max-extent`). `ASSUMED` facts are believed, enforced by nobody and listed with every
    verdict that used them (declared bounds, a value taken from a parametrize list).
    """

    ENFORCED = "enforced"
    GLOBAL = "global"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Row:
    """One kind of fact: what it says, who enforces it, and from which check on it holds."""

    kind: FactKind
    says: str
    by: str
    since: str
    guessed: bool = False
    """Whether it is a guess about what the machine does; other facts that are assumed are promises of those
    who call the function. Inputs that keep every promise may refute a guess."""


class FactSource(Enum):
    """The kinds of facts. A fact can only be stated with one of them."""

    INTEGER = Row(
        FactKind.ENFORCED,
        "a symbol is an int64",
        "the VM's calling convention, which has no other integers",
        "the call",
    )
    EXTENT_SIGN = Row(
        FactKind.ENFORCED,
        "an extent of a tensor is not negative",
        "whoever makes the tensor: NumPy and DLPack have no others, and allocations have a rule of "
        "their own; "
        "the VM itself lets a tensor of `tvm.runtime.empty((-2, -2))` in",
        "the check that reads the extent: `vm.builtin.match_shape`",
    )
    MAX_EXTENT = Row(
        FactKind.GLOBAL,
        "an extent of a tensor is at most `max-extent`",
        "the size of memory; stated once for all",
        "the check that reads the extent",
    )
    PARAMETER = Row(
        FactKind.ENFORCED,
        "a parameter before `num_input` has the rank, the dtype and the extents of its type; a symbol stands "
        "for one number wherever it stands",
        "`check_tensor_info`, `check_shape_info`, `check_tuple_info` and `match_shape`, which VMShapeLower "
        "puts at the beginning of each function",
        "the entry",
    )
    SCALAR_RANGE = Row(
        FactKind.ASSUMED,
        "a scalar parameter is in the range of its dtype",
        "nobody: `check_prim_value_info` takes any int64 for each integer dtype",
        "the entry",
    )
    MATCH_CAST = Row(
        FactKind.ENFORCED,
        "the extents of a value are those of the type that it is cast to",
        "`match_shape`, where TVM cannot prove the cast from types",
        "the cast",
    )
    MATCH_CAST_SYMBOL = Row(
        FactKind.ASSUMED,
        "an extent is a symbol that was defined before",
        "nobody where `CanonicalizeBindings` takes the cast for the definition of the symbol",
        "the cast",
        guessed=True,
    )
    ASSERTION = Row(
        FactKind.ENFORCED,
        "the condition of an `R.assert_op`",
        "`relax.run.assert_op`",
        "the assertion",
    )
    BRANCH = Row(
        FactKind.ENFORCED,
        "the condition of an `If`, or its negation",
        "`vm.builtin.read_if_cond` and the jump",
        "the beginning of the branch; behind both what holds in both, and that one or the other holds",
    )
    WRAPPING = Row(
        FactKind.ASSUMED,
        "a compared expression of scalars does not wrap around in 64 bits",
        "nobody: the VM computes `k * k <= 64` modulo 2**64, and so the products and sums in a shape; of a "
        "scalar beyond its type an assertion or a branch gets the low bits",
        "the comparison",
        guessed=True,
    )
    HEAP_SLOT = Row(
        FactKind.ENFORCED,
        "an extent or a scalar equals a constant or a slot of the shape heap",
        "`vm.builtin.match_shape`, `vm.builtin.match_prim_value`",
        "the call",
    )
    KERNEL_ENTRY = Row(
        FactKind.ENFORCED,
        "the extents of a kernel's arguments are those that its buffers declare",
        "the comparisons at the beginning of a compiled PrimFunc",
        "the entry of the kernel; for what happens in the kernel only",
    )
    WITHIN_PAGES = Row(
        FactKind.ENFORCED,
        "a tensor ends within the pages of its storage",
        "`StorageObj::AllocTensor`, with the size that the pooled allocator rounded",
        "the allocation; for page slack only",
    )
    JUDGED_ELSEWHERE = Row(
        FactKind.ENFORCED,
        "an extent or an offset is not negative, where a verdict of its own says whether it is",
        "the rules about underruns and negative extents, which report the rest",
        "the operation itself",
    )
    AXIS_HAS_ELEMENT = Row(
        FactKind.ENFORCED,
        "an axis from which an element is taken has one",
        "the loop, which otherwise takes none",
        "the access",
    )
    DIVISOR = Row(
        FactKind.ENFORCED,
        "a divisor in an extent is not zero",
        "the processor, which ends the run: VMShapeLower has all extents computed, also those of "
        "branches that are not taken",
        "the entry, or the cast that gives the last symbol its value; nothing is proved with it, but the "
        "examples of findings keep to it",
    )
    DECLARED_BOUND = Row(
        FactKind.ASSUMED,
        "a bound that an attribute of the function declares",
        "nobody; a rule of its own reports it",
        "the entry",
    )
    CONFIGURATION = Row(
        FactKind.ASSUMED,
        "an assumption of the configuration",
        "nobody",
        "the entry",
    )

    REQUESTED = Row(
        FactKind.ASSUMED,
        "the value for which memory totals were asked",
        "nobody; the totals are about that value",
        "the entry",
    )

    @property
    def kind(self) -> FactKind:
        """How much the fact is worth."""
        return self.value.kind
