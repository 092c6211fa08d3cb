"""One module per command of `relax-lint`."""
