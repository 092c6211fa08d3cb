"""Mutation testing: faults that people make are put into the engine one by one, and a test must notice.

`make mutants`, or `python -m tools.mutants`; CONTRIBUTING.md says how the result is read.
"""
