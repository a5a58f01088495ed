"""WooCommerce's REST interface v3 as its public documentation describes it."""
