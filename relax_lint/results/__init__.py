"""What a run reports, as plain data that goes from process to process: no TVM, no sympy, no way of making it.

May import `vm` (as data) and `support`.
"""
