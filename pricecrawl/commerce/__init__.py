"""Adapters to shop platforms, one module each, behind `pricing.ports.CommerceTarget`."""
