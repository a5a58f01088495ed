"""Durable work: workflows that resume after a crash, on DBOS. The one room that imports it.

What DBOS keeps is where a workflow stands; what became of a price stands in our own rows.
"""
