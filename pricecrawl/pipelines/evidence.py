"""100: the bytes first. No listing passes without a reference to the stored page it was read from."""

from __future__ import annotations

from scrapy.exceptions import DropItem

from pricecrawl.domain.listing import RawListing
from pricecrawl.extensions.pages import Collected


class EvidencePipeline:
    """Collected in, RawListing with its evidence out.

    The page itself was written before its first listing got here (`middlewares/provenance.py`), once for all.
    """

    def process_item(self, item: Collected) -> RawListing:
        """Attach the reference; a page that was fetched and not kept gives no listing."""
        if item.page.ref is None and item.page.response is not None:
            raise DropItem("no evidence, no listing")
        item.raw.evidence = item.page.ref
        return item.raw
