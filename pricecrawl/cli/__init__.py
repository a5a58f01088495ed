"""The `pricecrawl` command: one module per command or group, each with a `register(app)`."""
