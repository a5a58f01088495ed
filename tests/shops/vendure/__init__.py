"""A real Vendure shop: one node process in memory, started and changed through its own interface."""
