"""Pure readers of platforms' own feeds: parsed JSON in, RawListings and counted skips out."""
