"""The changes of a memory program as edits of a file."""
