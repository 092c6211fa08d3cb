"""Integers: expressions, domains, provers, safe regions, examples."""
