"""The one thing a stock shop has no switch for: forbidding robots its robots file."""

from pathlib import Path

from django.conf import settings
from django.http import HttpResponse


class Refusal:
    """While a file `refuse` lies in the shop's folder, /robots.txt answers 403."""

    def __init__(self, get_response):
        self.get_response = get_response
        self.switch = Path(settings.STATE) / "refuse"

    def __call__(self, request):
        if request.path == "/robots.txt" and self.switch.exists():
            return HttpResponse(status=403)
        return self.get_response(request)
