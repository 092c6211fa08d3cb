"""What a run reports, as plain data: no TVM, no sympy, no way of making it. Imports `support`."""
