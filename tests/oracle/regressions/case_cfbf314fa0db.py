"""Disagreement: false: ('g', 'RLX303', 'w8') at Point(m=0, n=1, k=0, c=False): evaluator says fine, [Check(rule='RLX303', name='kernel-offset', verdict=<Verdict.NEEDS_RUNTIME_CHECK: 'needs-runtime-check'>, severity=<Severity.WARNING: 'warning'>, message='`o6` starts at offset `-k + 2` bytes, which is"""

# fmt: off
from tests.oracle.program import Function, Kernel, Other, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='g', steps=(Storage(name='s2_memory', level='memory', size='(m + 16) // 2 * 16', dtype='uint8'), Tensor(name='t3', level='memory', storage='s2_memory', offset='2 - k', shape=('m * 1',), dtype='float32'), Other(name='o6', kind='made', source='t3'), Kernel(name='w8', kernel='accumulate', arguments=('o6', 't3'))), result=('x',), upper=()),))
