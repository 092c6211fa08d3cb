"""An assertion of the author went because of an inserted check that a larger storage made needless later."""

# fmt: off
from tests.oracle.program import Function, Guard, Kernel, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Guard(name='g8', condition='m >= 3'), Storage(name='s10_memory', level='memory', size='m - 5', dtype='uint8'), Tensor(name='t11', level='memory', storage='s10_memory', offset='0', shape=('k * 2',), dtype='float32'), Kernel(name='w12', kernel='fill', arguments=('t11',))), result=('x',), upper=()),))
STRATEGY = 'auto'
