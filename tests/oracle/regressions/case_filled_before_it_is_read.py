"""A function that fills what it then reads by its other argument does not read what an in-place call left."""

# fmt: off
from tests.oracle.program import Branch, Function, Helper, InPlace, Program, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Tensor(name='t0', level='builtin', storage=None, offset='0', shape=('(m + 12) // 1',), dtype='float32'), Branch(name='b6', then=(InPlace(name='i3', source='t0', extent='(m + 12) // 1'),), other=()), Helper(name='h7', helper='shift', arguments=('t0', 't0'), renamed=False)), result=('x',), upper=()),))
