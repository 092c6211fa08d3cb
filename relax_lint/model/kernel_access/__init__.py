"""Every access of a PrimFunc: where it goes, under which conditions, and when it stays inside its buffer."""
