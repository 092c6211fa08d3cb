"""The memory program, and the builder that walks raw Relax IR into it."""
