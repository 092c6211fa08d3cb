"""What an in-place call makes of a tensor starts where the tensor does, so that an element-wise kernel is fine."""

# fmt: off
from tests.oracle.program import Branch, Function, InPlace, Kernel, Program, Storage, Tensor, View

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_memory', level='memory', size='m * 8 + 32', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='8', shape=('4',), dtype='float32'), View(name='v6', kind='reshape', source='t1', extent='4'), InPlace(name='i7', source='v6', extent='4'), Branch(name='b16', then=(), other=(Branch(name='b14', then=(), other=(Kernel(name='w13', kernel='accumulate', arguments=('v6', 'i7')),)),))), result=('x',), upper=()),))
