"""Feeds for analysts: one flat row per observation, the same columns in every format."""
