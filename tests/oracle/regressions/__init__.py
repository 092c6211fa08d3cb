"""Programs on which the three once disagreed: one module each, with a `PROGRAM`."""
