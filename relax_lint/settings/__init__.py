"""What a person sets: configuration, its values, assumptions, memory requests. Imports `results`."""
