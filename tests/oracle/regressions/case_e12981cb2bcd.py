"""Disagreement: not always wrong: ('g', 'RLX203', 'i3') at Point(m=0, n=0, k=-2, c=True): evaluator says fine, [Check(rule='RLX206', name='inplace-hazard', verdict=<Verdict.ALWAYS_WRONG: 'always-wrong'>, severity=<Severity.ERROR: 'error'>, message='`twice` overwrites `t0` in place, which `shift` still"""

# fmt: off
from tests.oracle.program import Branch, Function, Helper, InPlace, Program, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Tensor(name='t0', level='builtin', storage=None, offset='0', shape=('(m + 12) // 1',), dtype='float32'), Branch(name='b6', then=(InPlace(name='i3', source='t0', extent='(m + 12) // 1'),), other=()), Helper(name='h7', helper='shift', arguments=('t0', 't0'), renamed=False)), result=('x',), upper=()),))
