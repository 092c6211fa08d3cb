"""The bodies of kernels: which elements they touch, in which order, and what follows from that."""
