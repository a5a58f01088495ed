"""Prices with and without VAT on one page: the price a consumer pays, VAT included, is the price.

Shops write the net amount into their markup and show the gross one, or show both. An amount is
recognised as the net of another by its label, or by the rate between the two where a label says
that the higher includes tax. Nothing is ever computed into a price here: both amounts were read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pricecrawl.domain.candidate import Candidate
from pricecrawl.domain.consensus_groups import agree, is_guess, is_visible, minor_step, money
from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.domain.reasons import ReviewReason

# Percent, standard rate first: rates in force 2019-2026 as published by the tax authorities (for the EU:
# the Commission's "Taxes in Europe" database). Older rates stay, since pages and evidence are old too.
_RATES: dict[str, tuple[str, ...]] = {
    "AT": ("20", "13", "10"),
    "AU": ("10",),
    "BE": ("21", "12", "6"),
    "BG": ("20", "9"),
    "CH": ("8.1", "7.7", "3.8", "3.7", "2.6", "2.5"),
    "CY": ("19", "9", "5"),
    "CZ": ("21", "15", "12", "10"),
    "DE": ("19", "16", "7", "5"),
    "DK": ("25",),
    "EE": ("24", "22", "20", "13", "9"),
    "ES": ("21", "10", "4"),
    "FI": ("25.5", "24", "14", "13.5", "10"),
    "FR": ("20", "10", "5.5", "2.1"),
    "GB": ("20", "5"),
    "GR": ("24", "13", "6"),
    "HR": ("25", "13", "5"),
    "HU": ("27", "18", "5"),
    "IE": ("23", "21", "13.5", "9"),
    "IL": ("18", "17"),
    "IN": ("18", "28", "40", "12", "5"),
    "IS": ("24", "11"),
    "IT": ("22", "10", "5", "4"),
    "JP": ("10", "8"),
    "KR": ("10",),
    "LT": ("21", "12", "9", "5"),
    "LU": ("17", "16", "14", "8"),
    "LV": ("21", "12", "5"),
    "MT": ("18", "7", "5"),
    "MX": ("16", "8"),
    "NL": ("21", "9"),
    "NO": ("25", "15", "12"),
    "NZ": ("15",),
    "PL": ("23", "8", "5"),
    "PT": ("23", "13", "6"),
    "RO": ("21", "19", "11", "9", "5"),
    "RU": ("22", "20", "10"),
    "SE": ("25", "12", "6"),
    "SG": ("9", "8", "7"),
    "SI": ("22", "9.5", "5"),
    "SK": ("23", "20", "19", "10", "5"),
    "TR": ("20", "18", "10", "8", "1"),
    "UA": ("20", "7"),
    "ZA": ("15",),
}
_HIGHEST = 1 + max(Decimal(rate) for rates in _RATES.values() for rate in rates) / 100
_OWN_MONEY = {"AU", "CH", "CZ", "DK", "GB", "HU", "IL", "IN", "IS", "JP", "KR", "MX", "NO", "NZ", "PL"}
_EURO = frozenset(_RATES) - _OWN_MONEY - {"RO", "RU", "SE", "SG", "TR", "UA", "ZA"}


@dataclass(frozen=True, slots=True)
class TaxView:
    """Candidates left after labelled net amounts went, with what is to be said and doubted about it.

    `likely_net` are amounts still among them that look like the net of a shown price although no label
    says so. They go, with a review, if the vote needs them gone: see `without_likely_net`.
    """

    candidates: tuple[Candidate, ...]
    sentences: tuple[str, ...] = ()
    reasons: tuple[ReviewReason, ...] = ()
    likely_net: frozenset[Decimal] = frozenset()
    likely_sentences: tuple[str, ...] = ()

    def without_likely_net(self) -> TaxView:
        """The view without amounts that are probably net, which a person must confirm."""
        return TaxView(
            tuple(c for c in self.candidates if c.amount not in self.likely_net),
            (*self.sentences, *self.likely_sentences),
            (*self.reasons, ReviewReason.TAX_BASIS_CONFLICT),
        )


def vat_rates(market: Market, currency: str | None) -> tuple[Decimal, ...]:
    """Rates that may lie between a net and a gross amount, as fractions (0.21).

    Those of the market's country; without a country the standard rates of the euro area for EUR and
    nothing for other currencies.
    """
    if market.country:
        names: tuple[str, ...] = _RATES.get(market.country.upper(), ())
    elif currency == "EUR":
        names = tuple({_RATES[country][0] for country in _EURO})
    else:
        names = ()
    return tuple(sorted(Decimal(name) / 100 for name in names))


def is_net_of(net: Decimal, gross: Decimal, market: Market, currency: str | None) -> Decimal | None:
    """The VAT rate by which `gross` is `net` with tax, within rounding of both amounts; else None."""
    step = minor_step(currency)
    for rate in vat_rates(market, currency):
        if abs(net * (1 + rate) - gross) <= step * (1 + rate):
            return rate
    return None


def drop_net(candidates: Sequence[Candidate], market: Market, currency: str | None) -> TaxView:
    """Take out amounts that another amount on the page contains with VAT added.

    Labelled net amounts go, wherever they are said, whenever a labelled gross one stands beside them or the
    page shows a plain price that is at most the highest rate above them. An unlabelled amount
    that only markup gives goes when an amount labelled with tax is exactly it plus VAT. If no label
    says that the higher one includes tax, the country must be known, the page must show it, and it is
    only likely, since a 20 % discount looks the same as a 25 % rate. In a market that quotes without
    tax, the labels work the other way round.
    """
    wanted, other = TaxBasis.INCLUSIVE, TaxBasis.EXCLUSIVE
    if market.tax_basis is TaxBasis.EXCLUSIVE:
        wanted, other = other, wanted
    left = tuple(candidates)
    sentences: list[str] = []
    reasons: list[ReviewReason] = []
    labelled = [c for c in left if c.tax_basis is wanted]
    if not labelled and wanted is TaxBasis.INCLUSIVE:
        left = _drop_beside_plain(left, currency, sentences)
    if labelled:
        clash = [
            c
            for c in left
            if c.tax_basis is other and any(agree(c.amount, w.amount, currency) for w in labelled)
        ]
        if clash:
            reasons.append(ReviewReason.TAX_BASIS_CONFLICT)
            sentences.append(f"{money(clash[0].amount, currency)} is labelled both with and without tax.")
        gone = sorted({c.amount for c in left if c.tax_basis is other and c not in clash})
        if gone:
            # An amount without a label is net where the page labels the same amount so.
            left = tuple(
                c
                for c in left
                if c in clash
                or not (
                    c.tax_basis is other
                    or (c.tax_basis is TaxBasis.UNKNOWN and any(agree(c.amount, a, currency) for a in gone))
                )
            )
            word = "without" if other is TaxBasis.EXCLUSIVE else "with"
            sentences.append(f"{_list(gone, currency)} is labelled {word} tax and is set aside.")
    if wanted is not TaxBasis.INCLUSIVE:
        return TaxView(left, tuple(sentences), tuple(reasons))
    taxed = _nets(left, market, currency, lambda c: c.tax_basis is TaxBasis.INCLUSIVE)
    left = tuple(c for c in left if c.amount not in taxed)
    sentences += taxed.values()
    likely: dict[Decimal, str] = {}
    if market.country:
        likely = _nets(left, market, currency, lambda c: is_visible(c.method) and not is_guess(c.method))
    return TaxView(left, tuple(sentences), tuple(reasons), frozenset(likely), tuple(likely.values()))


def _drop_beside_plain(
    candidates: tuple[Candidate, ...], currency: str | None, sentences: list[str]
) -> tuple[Candidate, ...]:
    """Without amounts labelled as net where the page shows a plain price that can be one of them with tax."""
    plain = {
        c.amount
        for c in candidates
        if c.tax_basis is TaxBasis.UNKNOWN and is_visible(c.method) and not is_guess(c.method)
    }
    nets = {c.amount for c in candidates if c.tax_basis is TaxBasis.EXCLUSIVE}
    gone = {
        net
        for net in nets
        if any(net < gross <= net * _HIGHEST and not agree(net, gross, currency) for gross in plain)
    }
    if not gone:
        return candidates
    sentences.append(f"{_list(sorted(gone), currency)} is labelled without tax and is set aside.")
    return tuple(c for c in candidates if not any(agree(c.amount, net, currency) for net in gone))


def _nets(
    candidates: tuple[Candidate, ...],
    market: Market,
    currency: str | None,
    is_gross: Callable[[Candidate], bool],
) -> dict[Decimal, str]:
    """Amounts of markup alone that are a gross amount without its VAT, each with its sentence."""
    amounts = sorted({c.amount for c in candidates})
    firm = {c.amount for c in candidates if is_visible(c.method) or c.tax_basis is TaxBasis.INCLUSIVE}
    gross_amounts = sorted({c.amount for c in candidates if is_gross(c)})
    found: dict[Decimal, str] = {}
    for net in amounts:
        if net in firm:
            continue
        for gross in gross_amounts:
            rate = is_net_of(net, gross, market, currency) if gross > net else None
            if rate is not None:
                percent = format((rate * 100).normalize(), "f")
                found[net] = (
                    f"{money(net, currency)} in the markup is {money(gross, currency)} without {percent} % "
                    "VAT; the price with VAT is the price."
                )
                break
    return found


def _list(amounts: Sequence[Decimal], currency: str | None) -> str:
    return ", ".join(money(amount, currency) for amount in amounts)
