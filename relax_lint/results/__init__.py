"""What a run reports, as plain data that can be sent between processes: no TVM, no sympy.

May import `vm` (as data) and `support`.
"""
