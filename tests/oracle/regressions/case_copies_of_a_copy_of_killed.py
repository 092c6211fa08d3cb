"""Disagreement: missed: a copy of a copy of what was killed is used"""

# fmt: off
from tests.oracle.program import Function, InPlace, Kernel, Kill, Other, Program, Storage, Tensor, View

PROGRAM = Program(functions=(Function(name='f', steps=(Storage(name='s0', level='memory', size='128', dtype='uint8'), Tensor(name='t1', level='memory', storage='s0', offset='0', shape=('m + 1',), dtype='float32'), Kill(name='d2', kind='tensor', target='t1'), View(name='v3', kind='reshape', source='t1', extent='m + 1'), View(name='v4', kind='reshape', source='v3', extent='m + 1'), Other(name='o5', kind='alias', source='v4'), InPlace(name='i6', source='o5', extent='m + 1'), View(name='v7', kind='reshape', source='i6', extent='m + 1'), Kernel(name='w8', kernel='fill', arguments=('v7',)), Kernel(name='w9', kernel='fill', arguments=('o5',))), result=('x',), upper=()),))
