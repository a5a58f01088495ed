"""Addresses: the form that tells whether two of them are the same page, and which hosts may be fetched.

`canonical` is an identity, never an address to fetch: it drops `www`, tracking parameters and fragments.
`is_public_host` is the wall in front of every address that a page, a row or a person gives us: no IP literal
in any spelling, no loopback, private or link-local name.
"""

from __future__ import annotations

import ipaddress
import posixpath
import re
import unicodedata
from urllib.parse import SplitResult, unquote, urlsplit

_PORTS = {"http": 80, "https": 443}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT_IN_PATH = _UNRESERVED | frozenset(b"!$&'()*+,;=:@/")
_KEPT_IN_QUERY = _UNRESERVED | frozenset(b"!$'()*,:@/?")
_HOST = re.compile(r"[^\s\x00-\x20%@/?#]+")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;]*", re.IGNORECASE)

_TRACKING = _words(
    """
    gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid fbclid msclkid yclid ysclid twclid ttclid tblci
    li_fat_id igsh igshid epik srsltid mc_cid mc_eid mkt_tok vero_id vero_conv s_kwcid ef_id cm_mmc cmpid
    clickid click_id irclickid irgwc awc cjevent cjdata sscid zanpid ranmid raneaid ransiteid affid aff_id
    affiliate affiliate_id wickedid rb_clickid _ga _gl _kx _ke _hsenc _hsmi __s dm_i trk trkcampaign spm scm
    pvid algo_pvid algo_exp_id ref_ refid referrer referer campaignid adgroupid adid matchtype
    wt_mc wt.mc wt_zmc _pos _sid _ss _psq _fid _v pr_prod_strat pr_rec_id pr_rec_pid pr_ref_pid pr_seq
    phpsessid jsessionid cfid cftoken _openstat nr_email_referer
    """
)
_TRACKING_PREFIXES = (
    "utm_",
    "mtm_",
    "pk_",
    "piwik_",
    "matomo_",
    "hsa_",
    "oly_",
    "stm_",
    "pf_rd_",
    "at_c",
    "et_cid",
)
_VARIANT_KEYS = _words(
    """
    variant variantid variant_id variation variationid sku skuid color colour farbe couleur size groesse
    taille option options attribute id_product_attribute pid productid product_id itemid item_id article v
    """
)
"""Keys that select a variant in a fragment, compared whole: `v` is not the `v` of `reviews`."""
_COMBINATION = re.compile(r"/(?:\d+-[^/]+/?)+")
_ROUTE = re.compile(r"!?/[^#?]+")

_PRIVATE_SUFFIXES = _words(
    """
    localhost local localdomain internal intranet private corp home lan home.arpa test invalid onion arpa
    nip.io sslip.io xip.io localtest.me lvh.me vcap.me lacolhost.com fuf.me
    """
)
"""Reserved and private domains, and the public ones whose names resolve to an address of one's choice."""
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)", re.ASCII)


def canonical(url: str) -> str:
    """The identity of a page: the same text for every spelling of its address.

    Scheme `https` for both schemes on their default ports; host in lower-case ASCII without `www`; no
    user, default port, tracking or session parameter, dot segment, doubled or trailing slash; escapes in
    one spelling; parameters in order; a fragment only where it selects a variant. What is no http address
    comes back stripped of blanks and otherwise as it is.
    """
    text = url.strip()
    parts = _split(text)
    if parts is None:
        return text
    scheme, port = parts.scheme.lower(), _port(parts)
    host = _ascii_host(parts.hostname or "").removeprefix("www.")
    if port is None or port == _PORTS[scheme]:
        scheme, authority = "https", host
    else:
        authority = f"{host}:{port}"
    query = _canonical_query(parts.query)
    fragment = _variant_fragment(parts.fragment)
    return (
        f"{scheme}://{authority}{_canonical_path(parts.path)}"
        + (f"?{query}" if query else "")
        + (f"#{fragment}" if fragment else "")
    )


def same_page(one: str, other: str) -> bool:
    """True when two addresses are spellings of the same page."""
    return canonical(one) == canonical(other)


def host_key(url: str) -> str:
    """The host that a run occupies: lower case, without `www`, with an unusual port."""
    parts = _split(url.strip())
    if parts is None:
        return ""
    host, port = _ascii_host(parts.hostname or "").removeprefix("www."), _port(parts)
    return host if port is None or port == _PORTS[parts.scheme.lower()] else f"{host}:{port}"


def is_public_host(host: str) -> bool:
    """May a request leave for this host name? No for every IP literal and every private name.

    Literals are refused in all spellings that a client resolves: dotted, short, decimal, octal,
    hexadecimal, bracketed, IPv4 in IPv6, full-width digits and percent-escapes. Names without a dot, in
    reserved or private domains, or of services that resolve to an address in the name, are refused too.
    What a public name resolves to is checked at connect time with `is_public_address`.
    """
    name = unicodedata.normalize("NFKC", unquote(host)).strip().strip("[]").rstrip(".").lower()
    name = name.replace("。", ".")
    if not name or len(name) > 253 or ":" in name or "%" in name:
        return False
    try:
        labels = _ascii_host(name).split(".")
    except ValueError:
        return False
    if len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels):
        return False
    last = labels[-1]
    if last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last):
        return False
    plain = ".".join(labels)
    return not any(plain == suffix or plain.endswith("." + suffix) for suffix in _PRIVATE_SUFFIXES)


def is_public_url(url: str) -> bool:
    """An http or https address, without a user, of a public host."""
    parts = _split(url.strip())
    return parts is not None and "@" not in parts.netloc and is_public_host(parts.hostname or "")


def is_public_address(address: str) -> bool:
    """May a connection go to this resolved IP address? Global unicast only; IPv4 inside IPv6 is unpacked."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in ipaddress.IPv6Network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public_address(str(inner))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def is_loopback(host: str) -> bool:
    """This machine by its usual names: `localhost`, 127.0.0.0/8 and ::1."""
    name = host.strip().strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_tracking(name: str) -> bool:
    """True for a query parameter that says where a visitor came from and not what is shown."""
    lowered = name.lower()
    return lowered in _TRACKING or lowered.startswith(_TRACKING_PREFIXES)


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme.lower() in _PORTS and _HOST.fullmatch(parts.hostname or "") is not None
    except ValueError:
        return None
    return parts if usable else None


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        return None


def _ascii_host(host: str) -> str:
    """The host in lower-case ASCII (IDNA), without the root's dot; kept as it is where IDNA refuses it."""
    name = host.lower().rstrip(".")
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        return name


def _canonical_path(path: str) -> str:
    spelled = _spell(_SESSION.sub("", path), _KEPT_IN_PATH)
    plain = posixpath.normpath("/" + spelled.lstrip("/"))
    return "" if plain == "/" else plain


def _canonical_query(query: str) -> str:
    kept = []
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if not pair or is_tracking(unquote(name)) or _is_referral(name, value):
            continue
        spelled = _spell(name.replace("+", " "), _KEPT_IN_QUERY)
        kept.append(spelled + (f"={_spell(value.replace('+', ' '), _KEPT_IN_QUERY)}" if equals else ""))
    return "&".join(sorted(kept))


def _is_referral(name: str, value: str) -> bool:
    """`ref=nav_logo` tells the way; `ref=120345` is an article number in half of France."""
    return name.lower() == "ref" and not re.search(r"\d{3}", value)


def _variant_fragment(fragment: str) -> str:
    """The fragment where it selects a variant or a route of a script-drawn shop, else nothing."""
    if _COMBINATION.fullmatch(fragment) or (fragment.startswith(("!/", "/")) and _ROUTE.fullmatch(fragment)):
        return _spell(fragment, _KEPT_IN_PATH).rstrip("/")
    pairs = [pair for pair in re.split(r"[&;]", fragment.removeprefix("?")) if "=" in pair]
    chosen = [pair for pair in pairs if _selects(pair.partition("=")[0]) and pair.partition("=")[2]]
    return "&".join(sorted(_spell(pair, _KEPT_IN_QUERY | frozenset(b"=")) for pair in chosen))


def _selects(key: str) -> bool:
    name = unquote(key).strip().lower()
    return name in _VARIANT_KEYS or name.startswith(("dwvar_", "attribute_"))


def _spell(text: str, kept: frozenset[int]) -> str:
    """One spelling of each octet: unreserved ones plain, all others as upper-case escapes."""

    def decoded(match: re.Match[bytes]) -> bytes:
        octet = int(match.group(1), 16)
        return bytes([octet]) if octet in _UNRESERVED else match.group().upper()

    raw = _ESCAPE.sub(decoded, text.encode("utf-8", "surrogatepass"))
    out = []
    position = 0
    while position < len(raw):
        octet = raw[position]
        if octet == 0x25 and _ESCAPE.match(raw, position):
            out.append(raw[position : position + 3].decode("ascii"))
            position += 3
            continue
        out.append(chr(octet) if octet in kept else f"%{octet:02X}")
        position += 1
    return "".join(out)
