"""What becomes of checks after they were judged: ignores by file, comments in the text, severities, baseline.

Imports neither TVM nor sympy; of the packages `repair`, `sources`, `settings` and below, and the rules' door.
"""
