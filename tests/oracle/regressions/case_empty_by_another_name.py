"""Whether a tensor that nothing writes is empty was not asked where it is read by a name of unknown shape."""

# fmt: off
from tests.oracle.program import Function, Kernel, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Storage(name='s0_memory', level='memory', size='(m + 2) // 4 * 16', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0_memory', offset='0', shape=('T.min(n, 5)',), dtype='float32'), Other(name='o2', kind='made', source='t1'), Kernel(name='w5', kernel='double', arguments=('o2', 't1'))), result=('x',), upper=()),))
