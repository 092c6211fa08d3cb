"""What maintainers run by hand; `make` has a target for each."""
