"""What is decided of stored programs, and stays decided.

`python -m tests.strength` writes what the linter says now of each program, after an evaluator or an interpreter has
agreed with it where there is one; `git diff` then shows what became weaker.
"""
