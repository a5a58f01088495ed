"""The HTTP interface: the only room that knows FastAPI."""
