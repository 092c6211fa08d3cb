"""What TVM and its Relax VM do, as data.

`versions` and `nodes` are the only places that ask which TVM this is and what a node is called there;
importing `versions` imports TVM. `builtins` has one row for each operator on memory and each builtin of the
VM: arguments, effect, what it returns, what it allocates. `calls` has one row for each calling convention.
`allocators` has the only page rounding. A fact about TVM that two packages need belongs here. May import
`support`; all but `versions` import neither TVM nor sympy, so that `settings` and `results` can use them.
"""
