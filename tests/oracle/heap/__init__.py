"""Random lowered functions that keep shapes in a shape heap: verdicts against a slot-by-slot run and the VM."""
