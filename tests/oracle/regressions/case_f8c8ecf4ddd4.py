"""What reads an unwritten tensor first is needed by nobody: it is returned unwritten in every call all the same."""

# fmt: off
from tests.oracle.program import Branch, Function, Kernel, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_memory', level='memory', size='m * 8 + 32', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='0', shape=('4',), dtype='float32'), Storage(name='s2_vm', level='vm', size='m * 8 + 32', dtype='uint8'), Tensor(name='t3', level='vm', storage='s2_vm', offset='0', shape=('4',), dtype='float32'), Branch(name='b10', then=(), other=(Kernel(name='w9', kernel='double_0', arguments=('t1', 't3')),))), result=('t1',), upper=(('n', 2),)),))
