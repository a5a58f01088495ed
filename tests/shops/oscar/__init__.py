"""A real django-oscar shop: settings, seed and a handle to start and change it."""
