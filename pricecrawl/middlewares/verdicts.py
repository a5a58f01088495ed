"""What our middlewares throw at a request, so that a spider's errback can tell a no from an outage."""

from __future__ import annotations

from scrapy.exceptions import DownloadFailedError, IgnoreRequest


class RunEnded(IgnoreRequest):
    """The run is ending; nothing more is sent."""


class Forbidden(IgnoreRequest):
    """robots.txt forbids this request; the run goes on."""


class OffLimits(IgnoreRequest):
    """The address is not one that this source may send us to; the run goes on."""


class BudgetSpent(IgnoreRequest):
    """The run has drawn as many pages as its row allows; the run goes on without this one."""


class RenderFailed(DownloadFailedError):
    """A page could not be drawn; retried like any failed download."""


class PageGone(IgnoreRequest):
    """The product's page says that it is gone."""
