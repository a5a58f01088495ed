"""How fast: one place that sets the pace of a host, and a downloader whose queues stay short.

The pace of a host is the slowest of its robots' Crawl-delay, the row's and ours, and it only ever gets
slower within a run. `Downloader.slots` and `per_slot_settings` are Scrapy's own and only half public; they
are touched here alone, under a test.
"""

from __future__ import annotations

from time import monotonic
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler

from pricecrawl.middlewares.verdicts import RunEnded

# Requests of a paced host that may be inside the downloader at once: one on the wire, one waiting.
_WAITING_LIMIT = 2


def host_of(url: str) -> str:
    """The host that a pace belongs to: lower case, no port, no `www`, so that one shop has one pace."""
    try:
        return (urlsplit(url).hostname or "").lower().rstrip(".").removeprefix("www.")
    except ValueError:
        return ""


def set_pace(downloader: Downloader, host: str, delay: float) -> float:
    """Slow a host down to one request every `delay` seconds, never faster than before; gives the result.

    Both the live slot and the settings of future slots are written: a slot that idles for 60 s is thrown
    away and made anew from the settings. Jitter is zero, because it would also subtract.
    """
    known = downloader.per_slot_settings.get(host)
    if known is not None and known["delay"] >= delay:
        return float(known["delay"])
    concurrency = 1 if delay > 0 else downloader.domain_concurrency
    downloader.per_slot_settings[host] = {"delay": delay, "concurrency": concurrency, "jitter": 0.0}
    slot = downloader.slots.get(host)
    if slot is not None:
        slot.delay, slot.concurrency, slot.jitter = delay, concurrency, 0.0
    return delay


def pause(downloader: Downloader, host: str, seconds: float) -> None:
    """Send nothing more to a host for so many seconds, whatever its delay. The host must have a pace."""
    slot = downloader.slots.get(host)
    if slot is None:
        return
    # The slot sends when `lastseen + delay` has passed.
    slot.lastseen = max(slot.lastseen, monotonic() + seconds - slot.delay)
    if slot.latercall is not None:
        slot.latercall.cancel()
        slot.latercall = None
        downloader._process_queue(slot)  # noqa: SLF001  (re-arms the timer for the new time)


class PacedDownloader(Downloader):
    """Counts a delay from the answer, and keeps requests for a paced host in the scheduler until nearly due.

    Stock Scrapy counts from the moment that a request was taken from its queue. A busy process may send it
    later, and the next one then follows too soon: only from the answer on is it certain that the shop had it.
    Stock Scrapy also moves 16 requests into the queue of a host with a Crawl-delay of 60 s, where neither a
    robots refusal nor a kill switch reaches them for a quarter of an hour.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        crawler.signals.connect(self._answered, signals.response_downloaded)

    def _answered(self, request: Request) -> None:
        # Without a delay too: the answer may be the robots file that asks for one.
        slot = self.slots.get(self.get_slot_key(request))
        if slot is not None:
            slot.lastseen = max(slot.lastseen, monotonic())

    def needs_backout(self) -> bool:
        """True while enough is in flight: the stock limit, or two requests of a host with a delay."""
        return super().needs_backout() or any(
            slot.delay > 0 and len(slot.active) >= _WAITING_LIMIT for slot in self.slots.values()
        )

    def drop_waiting(self) -> int:
        """Drop what waits for its turn, when the run is ending; what is on the wire comes home."""
        dropped = 0
        for slot in self.slots.values():
            while slot.queue:
                request, deferred = slot.queue.popleft()
                deferred.errback(RunEnded(f"the run is ending: {request.url}"))
                dropped += 1
        return dropped


def pin_slot(request: Request) -> str:
    """Bind a request to its own host's pace, whatever slot its meta named; gives the host."""
    host = host_of(request.url)
    request.meta["download_slot"] = host
    return host
