"""A function only allocates and another one calls it: what it returns is for that one to write."""

# fmt: off
from tests.oracle.program import Branch, Function, Invoke, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s3_memory', level='memory', size='n * 4 + k * 4', dtype='uint8'), Tensor(name='t4', level='memory', storage='s3_memory', offset='0', shape=('m * k',), dtype='float32')), result=('x', 'x', 't4'), upper=(('m', 4),)), Function(name='g', steps=(Branch(name='b13', then=(), other=(Invoke(name='r12', function='f'),)),), result=('x',), upper=())))
