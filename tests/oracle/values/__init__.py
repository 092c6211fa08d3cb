"""Random small programs in which a tensor at an offset, a null value or a size in few bits goes through names, tuples, branches
and functions as values: verdicts against the VM, and that against a twin in which nothing is wrong.
"""
