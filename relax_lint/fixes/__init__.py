"""Changes that make findings go away: what to change, in the text of a file and in an IRModule."""
