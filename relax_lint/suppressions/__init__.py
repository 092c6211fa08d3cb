"""Findings that somebody accepts: comments in the text, and the baseline. Imports neither TVM nor sympy."""
