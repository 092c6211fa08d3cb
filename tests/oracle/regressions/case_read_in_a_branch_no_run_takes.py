"""Disagreement: missed: what a branch reads that no run takes hid the return of what was never written"""

# fmt: off
from tests.oracle.program import Branch, Function, Kernel, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_vm', level='vm', size='m * 4 + m * 4', dtype='uint8'), Tensor(name='t1', level='vm', storage='s0_vm', offset='0', shape=('m * 3',), dtype='float32'), Branch(name='b13', then=(Branch(name='b9', then=(), other=(Kernel(name='w8', kernel='accumulate', arguments=('t1', 't1')),)),), other=())), result=('t1', 'x', 'x'), upper=()),))
