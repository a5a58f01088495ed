"""The evidence store: what a shop answered, written once as WARC, read back and verified by reference."""
