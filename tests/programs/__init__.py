"""Real programs that relax-lint must judge right: written down once, used by tests, benchmarks and examples."""
