"""A tuple of the VM holds an older name of what was overwritten in place."""

# fmt: off
from tests.oracle.program import Function, InPlace, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s2_vm', level='vm', size='m - 3', dtype='uint8'), Tensor(name='t3', level='vm', storage='s2_vm', offset='0', shape=('1',), dtype='float32'), InPlace(name='i4', source='t3', extent='1'), Other(name='o6', kind='made', source='t3')), result=('o6',), upper=()),))
