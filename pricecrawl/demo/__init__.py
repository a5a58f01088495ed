"""The bundled high street: three small shops on loopback and our own catalogue, for `pricecrawl demo`."""
