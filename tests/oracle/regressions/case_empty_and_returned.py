"""Whether a tensor that nothing writes is empty was not asked where it is read by a name of unknown shape."""

# fmt: off
from tests.oracle.program import Function, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Storage(name='s0_vm', level='vm', size='m * 8 + 32', dtype='float32'), Tensor(name='t1', level='vm', storage='s0_vm', offset='0', shape=('m',), dtype='float32'), Other(name='o2', kind='made', source='t1')), result=('x', 'o2'), upper=()),))
