"""Disagreement: missed: a function that makes a tuple of what it allocates computes nothing"""

# fmt: off
from tests.oracle.program import Branch, Function, Invoke, Other, Program, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Tensor(name='t0', level='builtin', storage=None, offset='0', shape=('m * 4',), dtype='float32'), Other(name='o1', kind='made', source='t0')), result=('o1', 't0', 'x'), upper=()), Function(name='g', steps=(Branch(name='b11', then=(), other=(Invoke(name='r10', function='f'),)),), result=('x',), upper=())))
