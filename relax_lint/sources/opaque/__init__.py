"""What of a unit cannot be read becomes an opaque value, so that the rest of the unit can be judged."""
