"""Medusa v2's admin and store interfaces, as measured on the real server."""
