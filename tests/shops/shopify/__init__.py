"""Shopify's Admin GraphQL interface as its public documentation describes it."""
