"""Endpoints, one module a theme."""
