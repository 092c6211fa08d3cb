"""Which fixes are tried, kept and taken back, for a file and for a module. Imports `judging` and below."""
