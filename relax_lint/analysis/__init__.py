"""Facts about one function: domains, placements, claims."""
