"""What a rule may ask: claims put to provers, each verdict in one file. Imports `totals` and below."""
