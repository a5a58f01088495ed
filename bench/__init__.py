"""Benchmarks. Every figure is a ratio against a peer or a limit, measured within one run of this program."""
