"""BigCommerce's REST interfaces v2 and v3 as its public documentation describes them."""
