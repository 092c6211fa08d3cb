"""The memory program of a Relax function, and the builder that walks raw Relax IR into it.

`program`, `operations`, `kernels` and `types` are frozen data; `positions` is the seam to the texts.
`builder` is the only walk over Relax bindings, `kernel_body` the only one over the body of a PrimFunc; both
are told by `vm` what a call does. The handlers of calls get the builder's state as a `BuildContext`. May
import `symbolic` and below; knows nothing of files, rules and verdicts. The order of its files is a contract
in pyproject.toml.
"""
