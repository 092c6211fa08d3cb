"""Disagreement: not always wrong: what a function gives back starts where its argument does"""

# fmt: off
from tests.oracle.program import Function, Helper, Kernel, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_vm', level='vm', size='128', dtype='float32'), Tensor(name='t1', level='vm', storage='s0_vm', offset='8', shape=('4',), dtype='float32'), Kernel(name='w2', kernel='double', arguments=('t1', 't1')), Other(name='o3', kind='back', source='t1'), Helper(name='p4', helper='put', arguments=('s0_vm', 'x'), renamed=True), Tensor(name='t5', level='vm', storage='s0_vm', offset='0', shape=('m + 1',), dtype='float32'), Kernel(name='w6', kernel='fill', arguments=('t5',))), result=('o3', 'p4', 'o3'), upper=()),))
