"""commercetools' own test server, from its SDK."""
