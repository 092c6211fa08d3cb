"""Exact memory totals of a function, their formulas, timelines and estimates; what grew between two reports.

May import `analysis` and below. Judges nothing and renders nothing: totals go out as the result model's data.
"""
