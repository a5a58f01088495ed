"""Sources as rows: what a retailer's shop is called, where it is, and how its platform is read."""
