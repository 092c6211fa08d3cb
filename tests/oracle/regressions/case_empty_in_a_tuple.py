"""What a tuple gives back has no shape: the tensor that is in it, and was not written, may be empty all the same."""

# fmt: off
from tests.oracle.program import Function, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Storage(name='s0_memory', level='memory', size='m * 4', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='0', shape=('m',), dtype='float32'), Other(name='o3', kind='made', source='t1')), result=('o3', 't1'), upper=()),))
