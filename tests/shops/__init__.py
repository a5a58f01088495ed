"""Real shop servers for the tests, each started as its own process on loopback."""
