"""Random bodies of kernels: what the linter reads from them, a plain interpreter, and the virtual machine."""
