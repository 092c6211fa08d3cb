"""Random lowered functions that keep shapes in shape heaps: verdicts against a slot-by-slot run and the VM."""
