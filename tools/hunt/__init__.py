"""A campaign against TVM's passes: random programs, compiled in several ways, compared with themselves where
every tensor has memory of its own, and judged by the linter: `python -m tools.hunt --minutes 60`.
"""
