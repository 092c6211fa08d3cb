"""References that no program here stands for, with the reason."""

from __future__ import annotations

from benchmarks.bugs.bug import Rows

ROWS: tuple[Rows, ...] = (
    Rows("apache/tvm PR #14800", "CUDA graph rewriting: use before definition", "no CUDA here"),
    Rows(
        "apache/tvm PR #16955, #17145", "a view lowered before planning", "only packed calls are left of it"
    ),
    Rows("apache/tvm PR #16706", "a kill during an asynchronous copy (Hexagon)", "needs that device"),
    Rows("apache/tvm PR #16773", "an operator with effects marked as pure", "a fact about TVM, not a module"),
    Rows("apache/tvm#17244, #17949", "two runs differ", "cause unknown"),
    Rows("apache/tvm#17239, PR #17242", "validation crashes", "compiler crash, repaired"),
    Rows(
        "apache/tvm PR #16583, #15712, #17034", "stale values of symbols", "repaired; the casts are checked"
    ),
    Rows("apache/tvm#20335, PR #20345", "VMShapeLower crashes on a tuple of unknown shape", "compiler crash"),
    Rows("apache/tvm#20200, PR #20267", "KillAfterLastUse twice", "compiler crash, repaired in 0.27"),
    Rows("apache/tvm#17488, PR #17501", "the planner on a dataflow block", "compiler crash, repaired"),
    Rows("apache/tvm#20273", "shared memory of 4-bit elements (CUDA)", "memory inside of a GPU kernel"),
    Rows("apache/tvm#17884", "set_input moves arguments to device 0", "the runtime's doing"),
    Rows(
        "apache/tvm PR #15224", "estimate_memory_usage misses a tensor", "about TVM's estimator, not a module"
    ),
    Rows("TVM's sources", "estimate_memory_usage on symbolic sizes", "about TVM's estimator, not a module"),
    Rows("apache/tvm PR #15028", "a workspace of 8 bytes", "what the library needs is not in the IR"),
    Rows(
        "apache/tvm PR #16873, #16937", "a workspace for sorting", "what the library needs is not in the IR"
    ),
    Rows("apache/tvm PR #14723, #14802, #15118, #17110", "attention leaks", "inside of a library"),
    Rows(
        "apache/tvm PR #15145, #15567, #16830, #16834, #15839",
        "captured outputs (CUDA graph)",
        "no CUDA here; the facts are those of packed functions",
    ),
    Rows("apache/tvm PR #15612", "frames after an error", "the runtime's doing, repaired"),
    Rows("apache/tvm PR #20132", "a symbolic local allocation (WebGPU)", "memory inside of a GPU kernel"),
    Rows("apache/tvm PR #20129, #20336, #20409", "indices narrowed to 32 bits", "no rule: index arithmetic"),
    Rows("apache/tvm#17745, #19922, PR #19958", "reshape of an empty tensor", "compiler crash, repaired"),
    Rows(
        "mlc-ai/mlc-llm#98, #333, #1551, #1710", "arguments that the machine refuses", "depends on the caller"
    ),
    Rows("apache/tvm#20297, #20217, #19436, #19531", "run-time indices", "depends on values of tensors"),
)
