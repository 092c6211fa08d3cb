"""Disagreement: not always wrong: a call is given a copy of what was killed and that itself"""

# fmt: off
from tests.oracle.program import Function, Helper, Kill, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Storage(name='s0_vm', level='vm', size='m % 2 * 3', dtype='float32'), Tensor(name='t1', level='vm', storage='s0_vm', offset='0', shape=('(n + 8) // 1',), dtype='float32'), Kill(name='d3', kind='tensor', target='t1'), Other(name='o4', kind='copy', source='t1'), Helper(name='h5', helper='shift', arguments=('o4', 't1'), renamed=True)), result=('x',), upper=()),))
