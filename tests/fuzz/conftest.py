"""Fuzzers are programmes: they instrument what they import, and are not collected."""

collect_ignore_glob = ["fuzz_*.py"]
