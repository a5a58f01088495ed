"""Whose SKU is it: from exact identifiers to calibrated models."""
