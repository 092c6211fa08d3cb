"""What a kernel does with its own buffers, and what the steps of its parallel loops do to each other."""
