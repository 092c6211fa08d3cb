"""What is measured, not tested. Each module is a command: `python -m benchmarks.NAME --help` tells what.

`docs/figures.md` and `docs/known-bugs.md` are written by `figures` and `known_bugs`. What several need is in
`common` (options, tables, times), `lowering` (TVM's pipeline, pass by pass), `judging` (runs of whole
modules), and the modules that are measured are in `victims`, `operators`, `importers` and `bugs`.
"""
