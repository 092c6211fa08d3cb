"""What a person sets: the configuration, its values, assumptions, memory requests.

May import `results`, `vm` (as data) and `support`; neither TVM nor sympy.
"""
