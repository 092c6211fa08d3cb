"""Disagreement: not always wrong: a copy of what was killed is killed and used"""

# fmt: off
from tests.oracle.program import Function, Kernel, Kill, Program, Storage, Tensor, View

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0', level='memory', size='128', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0', offset='0', shape=('m + 1',), dtype='float32'), Kill(name='d2', kind='tensor', target='t1'), View(name='v3', kind='reshape', source='t1', extent='m + 1'), Kill(name='d4', kind='tensor', target='v3'), Kernel(name='w5', kernel='fill', arguments=('v3',))), result=('x',), upper=()),))
