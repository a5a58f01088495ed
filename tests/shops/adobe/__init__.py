"""Adobe Commerce's REST interface for prices, and its queue, as the public documentation describes them."""
