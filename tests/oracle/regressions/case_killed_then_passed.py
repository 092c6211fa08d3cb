"""A killed tensor is passed on: told where it is used, a binding before the step is done."""

# fmt: off
from tests.oracle.program import Function, Kill, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Storage(name='s0_memory', level='memory', size='m - 16', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='3 - m', shape=('m * 2',), dtype='float32'), Kill(name='d2', kind='tensor', target='t1'), Other(name='o5', kind='back', source='t1')), result=('x',), upper=(('m', 2),)),))
