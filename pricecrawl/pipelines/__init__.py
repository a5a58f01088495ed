"""The way of an item: evidence ► normalize ► consensus ► persist."""
