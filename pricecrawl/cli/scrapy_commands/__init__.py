"""Scrapy commands of this project; they replace Scrapy's own of the same name."""
