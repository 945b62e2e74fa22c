"""The speed benchmark: ``python -m benchmarks.speed --help``."""
