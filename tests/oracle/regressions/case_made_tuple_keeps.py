"""Totals: a tuple that `vm.builtin.make_tuple` made keeps its storage over the next call."""

# fmt: off
from tests.oracle.program import Function, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Storage(name='s0_memory', level='memory', size='128', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='8', shape=('m + 1',), dtype='float32'), Other(name='o3', kind='made', source='t1')), result=('o3', 'x'), upper=(('n', 2),)),))
TOTALS = True
