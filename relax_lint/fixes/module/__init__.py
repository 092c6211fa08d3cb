"""The changes of a memory program as nodes of an IRModule."""
