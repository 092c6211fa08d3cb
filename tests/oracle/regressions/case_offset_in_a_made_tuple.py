"""Disagreement: missed: what comes out of a tuple that a builtin makes starts where it was"""

# fmt: off
from tests.oracle.program import Function, Kernel, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_memory', level='memory', size='m * 8 + 32', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='8', shape=('4',), dtype='float32'), Other(name='o11', kind='made', source='t1'), Other(name='o12', kind='made', source='o11'), Kernel(name='w14', kernel='double_0', arguments=('o12', 't1'))), result=('x',), upper=()),))
