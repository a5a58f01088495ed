"""The ways out: which proxy, as whom, and the relay that keeps credentials away from Scrapy."""
