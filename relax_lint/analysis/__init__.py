"""Data flow over one function or program: no provers, no claims, no verdicts. Imports `sources` and below."""
