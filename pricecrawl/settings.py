"""The only Scrapy settings of pricecrawl. Each change stands beside Scrapy's own default.

Nothing here is read from the environment: `pricecrawl.config` is the only reader of that. Politeness
(robots, identity, pace) is not a setting; the middlewares below have no switch that turns them off.
"""

from __future__ import annotations

BOT_NAME = "pricecrawl"  # default: scrapybot
USER_AGENT = "pricecrawl"  # default: Scrapy/<version>; the identity middleware replaces it on every request

SPIDER_MODULES = ["pricecrawl.spiders"]  # default: []
NEWSPIDER_MODULE = "pricecrawl.spiders"  # default: ""
# Default: SpiderLoader, where a spider's class is its name. Ours makes each source (a row) a name.
SPIDER_LOADER_CLASS = "pricecrawl.spiders.loader.SourceSpiderLoader"
# Default: "". Our `scrapy crawl` exits with the code of the run's outcome; Scrapy's exits 0 whatever it was.
COMMANDS_MODULE = "pricecrawl.cli.scrapy_commands"

# --- who we are and what we may do --------------------------------------------------------------

# Default: False. Left there on purpose: Scrapy's robots middleware crawls on after 403 and 503, prefers a
# longer Allow and ignores Crawl-delay. Ours (below, 100) is always on and reads no setting.
ROBOTSTXT_OBEY = False
DEFAULT_REQUEST_HEADERS: dict[str, str] = {}  # default: Accept, Accept-Language; the identity brings ours
COOKIES_ENABLED = False  # default: True; a visitor without a session is all we ever are
REFERRER_POLICY = "no-referrer"  # default: scrapy-default; the page we came from is nobody's business
METAREFRESH_ENABLED = False  # default: True; a page is read as it is, and challenges refresh themselves
REDIRECT_MAX_TIMES = 5  # default: 20; RFC 9309 asks for five, no shop needs more
HTTPPROXY_ENABLED = False  # default: True; which way a request leaves is not for `http_proxy` to say

# The browser, where a row asks for one (spiders/base.py puts its handler in).
PLAYWRIGHT_MAX_CONTEXTS = 2  # default: no limit
PLAYWRIGHT_MAX_PAGES_PER_CONTEXT = 1  # default: CONCURRENT_REQUESTS
PLAYWRIGHT_PROCESS_REQUEST_HEADERS = None  # default: Scrapy's headers; the wall puts the identity on instead

# Default: False, which would lift a Crawl-delay for the sake of a paid proxy's speed.
ZYTE_SMARTPROXY_PRESERVE_DELAY = True

# --- pace ---------------------------------------------------------------------------------------

# What a host gets that has no pace of its own yet; robots and rows may only slow it down, and the floor for
# public hosts stands in code (middlewares/pace.py, extensions/current.py).
DOWNLOAD_DELAY = 1.0  # default: 0
DOWNLOAD_DELAY_JITTER = 0.0  # default: 0.5, which turns a 60 s Crawl-delay into 30..90 s
CONCURRENT_REQUESTS = 16  # default: 16
CONCURRENT_REQUESTS_PER_DOMAIN = 4  # default: 8; 1 as soon as a delay applies
AUTOTHROTTLE_ENABLED = False  # default: False; it may lower a delay that robots asked for
# Keeps what waits for a paced host in the scheduler, so that a stop never waits for a queue of delays.
DOWNLOADER = "pricecrawl.middlewares.pace.PacedDownloader"  # default: scrapy.core.downloader.Downloader

# --- limits and safety --------------------------------------------------------------------------

DOWNLOAD_VERIFY_CERTIFICATES = True  # default: False; a price over a forged connection is worth nothing
DOWNLOAD_TIMEOUT = 30  # default: 180
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024  # default: 1 GiB; binds compressed and decompressed bytes alike
DOWNLOAD_WARNSIZE = 8 * 1024 * 1024  # default: 32 MiB
DOWNLOAD_FAIL_ON_DATALOSS = True  # default: True; half a page is not evidence
REMOTE_CONTROL_ENABLED = False  # default: True; it opens a port that executes Python
TELNETCONSOLE_ENABLED = False  # default: True; the same, older
MEMUSAGE_LIMIT_MB = 2048  # default: 0 (no limit)
MEMUSAGE_CHECK_INTERVAL_SECONDS = 10.0  # default: 60
DOWNLOAD_HANDLERS = {  # default: all on; a shop's link must not read our disk or speak other protocols
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}
RETRY_TIMES = 2  # default: 2 (three requests in all)
# Default also has 429 and 503: those are ours (middlewares/backoff.py), because Scrapy's retry does not wait.
RETRY_HTTP_CODES = [500, 502, 504, 522, 524, 408]

# --- the way of a request -----------------------------------------------------------------------

DOWNLOADER_MIDDLEWARES = {
    # 10: the first word on every request: a held, refused or ended run sends nothing more. Also the last
    # to see a response or a failure, so it counts what no retry could mend.
    "pricecrawl.middlewares.enabled.EnabledMiddleware": 10,
    # 100: the place of the middleware it replaces. Inside 10, so that a stopped run reads no robots file;
    # outside redirect (600) and retry (550): what they re-issue comes through here again.
    "pricecrawl.middlewares.robots.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,  # default: 100
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,  # default: 300; no log-in path
    # 500: the place of the stock user agent, after default headers (400), so that it has the last word.
    "pricecrawl.middlewares.identity.IdentityMiddleware": 500,
    "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": None,  # default: 500
    # 530: outside redirect (600), so that it sees where a product's address led.
    "pricecrawl.middlewares.pagegone.PageGoneMiddleware": 530,
    # 560: inside retry (550), which does not wait.
    "pricecrawl.middlewares.backoff.BackoffMiddleware": 560,
    # 570: inside retry and backoff, so that a gate behind a 503 is not knocked at again; outside
    # decompression (590) and redirect (600), so that it reads the final page.
    "pricecrawl.middlewares.challenge.ChallengeMiddleware": 570,
    # 580: inside challenge, which ends the run at a 403: with the shop's permission another try comes first.
    "pricecrawl.middlewares.proxy.ProxyMiddleware": 580,
    # 610: the place that its library asks for; only in runs whose row says `egress = "zyte"`.
    "pricecrawl.middlewares.zyte.ZyteMiddleware": 610,
    # 620: innermost; only in runs whose row says `render = true`.
    "pricecrawl.middlewares.render.RenderMiddleware": 620,
}

SPIDER_MIDDLEWARES = {
    # 40: outermost but for the start mark (25): what leaves the spider is stamped with its response after
    # every other middleware had its say.
    "pricecrawl.middlewares.provenance.ProvenanceMiddleware": 40,
}

# --- the way of an item -------------------------------------------------------------------------

ITEM_PIPELINES = {
    "pricecrawl.pipelines.evidence.EvidencePipeline": 100,  # bytes first: nothing is believed without them
    "pricecrawl.pipelines.normalize.NormalizePipeline": 200,  # text becomes types, or a recorded rejection
    "pricecrawl.pipelines.consensus.ConsensusPipeline": 300,  # candidates become one price, or a review
    # 400 is for images, off unless a row states the right to keep them.
    "pricecrawl.pipelines.persist.PersistPipeline": 500,  # last: what is stored is what the feeds export
}
# Default: 100. Scrapy makes so many tasks anew for every response, and no item ever waits in our pipelines.
CONCURRENT_ITEMS = 16
DEFAULT_DROPITEM_LOG_LEVEL = "DEBUG"  # default: WARNING; a rejection is a row and a count, not a log line

# Default: True, which parses the source text of every callback to warn a programmer; mypy does that here.
WARN_ON_GENERATOR_RETURN_VALUE = False

# --- around a run -------------------------------------------------------------------------------

EXTENSIONS = {  # default: {}; order is only the order of construction, they meet in `extensions/current.py`
    "pricecrawl.extensions.run_record.RunRecord": 100,
    "pricecrawl.extensions.misses.Misses": 200,
    "pricecrawl.extensions.progress.Progress": 300,
    "pricecrawl.extensions.metrics.Metrics": 400,
    "scrapy.extensions.telnet.TelnetConsole": None,
    "scrapy.extensions.remote_control.RemoteControl": None,
}
STATS_DUMP = False  # default: True; the run record has the counts

FEED_EXPORTERS = {  # default: {}; the same flat columns in the same order for every format
    "csv": "pricecrawl.exporters.feeds.CsvExporter",
    "json": "pricecrawl.exporters.feeds.JsonExporter",
    "jsonl": "pricecrawl.exporters.feeds.JsonLinesExporter",
    "jsonlines": "pricecrawl.exporters.feeds.JsonLinesExporter",
    "jl": "pricecrawl.exporters.feeds.JsonLinesExporter",
    "parquet": "pricecrawl.exporters.parquet.ParquetExporter",
}
FEED_EXPORT_ENCODING = "utf-8"  # default: None, which escapes every non-ASCII letter in JSON

LOG_LEVEL = "INFO"  # default: DEBUG
LOG_FORMATTER = "pricecrawl.extensions.log.LogFormatter"  # default: scrapy.logformatter.LogFormatter
LOGSTATS_INTERVAL = 60.0  # default: 60.0
