"""Which inputs, in which process, under which limits. Imports `repair` and below."""
