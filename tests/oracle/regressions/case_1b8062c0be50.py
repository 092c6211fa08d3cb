"""Disagreement: evaluator: stopped, machine: RunResult(outcome=<Outcome.OK: 'ok'>, stage='run', error_type=None, message=None, signal=None, outputs=(Output(text='float32[0]', values=()), Output(text='float32[0]', values=())), log='', damage=None, left_out=False, digest='f77b9570fb003a2e1cf4ea1b70bd20d"""

# fmt: off
from tests.oracle.program import Function, Guard, Kernel, Program, Storage, Tensor

PROGRAM = Program(functions=(Function(name='f', steps=(Guard(name='g8', condition='m >= 3'), Storage(name='s10_memory', level='memory', size='m - 5', dtype='uint8'), Tensor(name='t11', level='memory', storage='s10_memory', offset='0', shape=('k * 2',), dtype='float32'), Kernel(name='w12', kernel='fill', arguments=('t11',))), result=('x',), upper=()),))
STRATEGY = 'auto'
