"""Two in-place calls one after another overwrite a value that is read later: one report, at the second."""

# fmt: off
from tests.oracle.program import Function, InPlace, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Tensor(name='t0', level='builtin', storage=None, offset='0', shape=('4',), dtype='float32'), InPlace(name='i3', source='t0', extent='4'), InPlace(name='i4', source='i3', extent='4'), Storage(name='s5_vm', level='vm', size='128', dtype='uint8'), Tensor(name='t7', level='vm', storage='s5_vm', offset='8', shape=('m + 1',), dtype='float32')), result=('i3', 't7', 't0'), upper=()),))
