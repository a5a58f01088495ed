"""The imperative shell: load, call the pure rules, save with the event in one transaction."""
