"""A plain interpreter of kernels, written from TVM's sources, and the linter's word against it.

`numbers` computes as the machine does, `memory` watches each element, `expressions` and `statements` carry a
PrimFunc out at concrete sizes and `machine` starts it. Nothing of the linter's analysis is used.
"""
