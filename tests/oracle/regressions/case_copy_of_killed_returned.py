"""A copy of a killed tensor is nothing too where it is returned; the evaluator took it for a result."""

# fmt: off
from tests.oracle.program import Function, Kill, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_memory', level='memory', size='16', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='0', shape=('m',), dtype='float32'), Other(name='o3', kind='alias', source='t1'), Kill(name='d4', kind='tensor', target='t1'), Other(name='o5', kind='copy', source='o3'), Other(name='o7', kind='alias', source='o5')), result=('o7', 'o7'), upper=(('n', 4),)),))
STRATEGY = 'dynamic'
