"""What is overwritten after it was killed on one way is not read there: that use is reported, as a use after kill."""

# fmt: off
from tests.oracle.program import Branch, Function, Kernel, Kill, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_memory', level='memory', size='m * 4 + 64', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='8', shape=('4',), dtype='float32'), Kernel(name='w3', kernel='double', arguments=('t1', 't1')), Branch(name='b11', then=(Kill(name='d9', kind='tensor', target='t1'),), other=()), Tensor(name='t12', level='memory', storage='s0_memory', offset='0', shape=('m + 1',), dtype='float32'), Tensor(name='t13', level='memory', storage='s0_memory', offset='0', shape=('4',), dtype='float32'), Kernel(name='w14', kernel='fill', arguments=('t13',))), result=('t12', 't1', 't13'), upper=(('n', 4),)),))
