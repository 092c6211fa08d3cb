"""Random functions that hand tensors at offsets and of unknown sizes on to each other: verdicts against an evaluator that
follows each call, and that against the VM.
"""
