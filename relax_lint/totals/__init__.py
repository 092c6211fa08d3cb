"""Memory totals."""
