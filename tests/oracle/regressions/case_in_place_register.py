"""What an in-place call makes of a tensor sits in the register of that tensor: one kill kills both."""

# fmt: off
from tests.oracle.program import Function, InPlace, Kill, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_memory', level='memory', size='m * 4 + 64', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='0', shape=('m + 1',), dtype='float32'), InPlace(name='i12', source='t1', extent='m + 1'), Kill(name='d19', kind='tensor', target='t1'), Other(name='o20', kind='copy', source='i12')), result=('x',), upper=(('m', 2),)),))
