"""Reading stored pages by today's rules: what `replay` and the model's commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pricecrawl.config import Config
    from pricecrawl.db.replay import StoredPage
    from pricecrawl.domain.listing import RawListing
    from pricecrawl.domain.market import Market
    from pricecrawl.evidence.store import StoredResponse


class StoredPages:
    """Evidence, rows and learned selectors, opened once."""

    def __init__(self, engine: Any, config: Config, source: str | None) -> None:
        """Raises UsageProblem if there is no such source."""
        from pricecrawl.db.learning import LearningStore
        from pricecrawl.evidence.store import EvidenceStore
        from pricecrawl.spiders.again import StoredReader
        from pricecrawl.spiders.loader import load_catalog

        catalog = load_catalog(config)
        if source is not None:
            catalog.get(source)
        learning = LearningStore(engine)
        self.learned = {
            slug: {
                kind: [entry.selector for entry in found] for kind, found in learning.selectors(slug).items()
            }
            for slug in learning.sources_with_selectors()
        }
        self._reader = StoredReader(catalog, self.learned)
        self._evidence = EvidenceStore(config.evidence_url)

    def response(self, page: StoredPage) -> StoredResponse:
        """The stored response."""
        return self._evidence.read(page.ref)

    def read(self, page: StoredPage) -> tuple[list[RawListing], Market]:
        """The listings of a page, in the currency that the shop had where its row leaves it open."""
        currency = next((before.currency for before in page.observations if before.currency), None)
        return self._reader.read(page.source, self.response(page), page.ref, currency)
