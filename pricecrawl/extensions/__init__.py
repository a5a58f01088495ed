"""What surrounds a run: its record, its misses, its progress, its counts."""
