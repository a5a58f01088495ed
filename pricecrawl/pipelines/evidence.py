"""100: the bytes first. No listing passes without a reference to the stored page it was read from."""

from __future__ import annotations

from scrapy.exceptions import DropItem

from pricecrawl.extensions.pages import Collected


class EvidencePipeline:
    """Gives every listing the reference to its page.

    The page itself was written before its first listing got here (`middlewares/provenance.py`), once for all.
    """

    async def process_item(self, item: Collected) -> Collected:
        """Attach the reference to the whole handful; a page that was not kept gives no listing."""
        page = item.handful.page
        if page.ref is None and page.response is not None:
            raise DropItem("no evidence, no listing")
        if item.raw.evidence is not page.ref:
            for raw in item.handful.raws:
                raw.evidence = page.ref
        return item
