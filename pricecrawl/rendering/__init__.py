"""A page as a browser draws it: behind a wall, within a budget, and without hands."""
