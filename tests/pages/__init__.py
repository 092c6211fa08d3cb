"""The rule pages as tests: every example is linted, every stated run is repeated on the virtual machine."""
