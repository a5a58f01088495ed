"""pricecrawl: polite price collection with evidence, and guarded repricing."""

__version__ = "0.1.0"
