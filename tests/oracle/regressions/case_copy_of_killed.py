"""A copy of a killed tensor is nothing either: the copying is reported, not what uses the copy."""

# fmt: off
from tests.oracle.program import Function, Kill, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_memory', level='memory', size='m * 4 + 64', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='0', shape=('m + 1',), dtype='float32'), Kill(name='d3', kind='tensor', target='t1'), Other(name='o4', kind='copy', source='t1'), Other(name='o8', kind='copy', source='o4')), result=('x',), upper=()),))
