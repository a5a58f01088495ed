"""A shop that takes its prices from files."""
