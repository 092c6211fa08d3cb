"""Disagreement: missed: ('f', 'RLX201', 'h5') at Point(m=0, n=0, k=-2, c=False): evaluator says wrong, []"""

# fmt: off
from tests.oracle.program import Function, Helper, Kill, Other, Program, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Tensor(name='t0', level='builtin', storage=None, offset='0', shape=('T.max(m - 2, 0)',), dtype='float32'), Kill(name='d2', kind='tensor', target='t0'), Other(name='o3', kind='made', source='t0'), Helper(name='h5', helper='maybe', arguments=('o3',), renamed=False)), result=('x',), upper=(('n', 2),)),))
