"""Each use of a register that was killed is reported, also of the name that an in-place call gave it."""

# fmt: off
from tests.oracle.program import Branch, Function, InPlace, Kill, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Storage(name='s0_vm', level='vm', size='m * 8 + 32', dtype='float32'), Tensor(name='t1', level='vm', storage='s0_vm', offset='m * 4', shape=('m',), dtype='float32'), Branch(name='b9', then=(Kill(name='d4', kind='tensor', target='t1'), InPlace(name='i5', source='t1', extent='m'), InPlace(name='i6', source='i5', extent='m')), other=())), result=('x',), upper=()),))
