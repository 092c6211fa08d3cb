"""A tensor is killed on two ways and then returned: one report, at one of the kills."""

# fmt: off
from tests.oracle.program import Branch, Function, Kill, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0_memory', level='memory', size='n * 5 + 0', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='0', shape=('3',), dtype='float32'), Branch(name='b14', then=(Kill(name='d9', kind='tensor', target='t1'),), other=(Kill(name='d12', kind='tensor', target='t1'),))), result=('t1', 't1'), upper=()),))
