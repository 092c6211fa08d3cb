"""What a rule may ask: claims put to provers, one file per verdict. Imports `totals` and below."""
