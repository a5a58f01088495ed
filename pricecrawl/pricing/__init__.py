"""How a price is decided: market price, floors, decision, guardrails. Pure; time is an argument."""
