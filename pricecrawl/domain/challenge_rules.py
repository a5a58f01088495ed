"""How each vendor's interstitial says what it is.

A rule names marks that only the block page carries. A vendor's sensor on a healthy page (its collector
script, its cookies, its response headers) is no mark: shops behind these vendors send them with every
page. `most` is the longest visible text, in characters, that such an interstitial still has; None where
the mark cannot stand on a page with content. No rule is asked about a page with product evidence.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """All of `every`, one of `some` where given, and at most `most` visible characters.

    `where` is `source` (the whole document), `markup` (outside scripts and comments), `visible` (what a
    reader sees, and the title).
    """

    name: str
    vendor: str | None
    every: tuple[str, ...] = ()
    some: tuple[str, ...] = ()
    most: int | None = 3000
    where: str = "source"


MARKS: tuple[Mark, ...] = (
    # Cloudflare: interstitials of 2013 to 2026. The sensor on healthy pages is /challenge-platform/scripts/.
    Mark(
        "managed-challenge",
        "cloudflare",
        some=(
            "_cf_chl_opt",
            "/orchestrate/chl_page",
            "/orchestrate/managed",
            "/orchestrate/jsch/",
            "/orchestrate/captcha/",
            "cf-chl-widget",
            "cf_chl_prog",
            "challenge-error-text",
        ),
    ),
    Mark(
        "challenge-form",
        "cloudflare",
        ("challenge-form",),
        ("/cdn-cgi/l/chk_", "__cf_chl_", "jschl"),
        most=None,
    ),
    Mark(
        "browser-verification",
        "cloudflare",
        some=(
            "cf-browser-verification",
            "cf-im-under-attack",
            "jschl_vc",
            "jschl-answer",
            "cf_captcha_kind",
            "cf_chl_captcha",
            "chk_captcha",
            "/cdn-cgi/scripts/cf.challenge.js",
        ),
    ),
    Mark(
        "firewall-block",
        "cloudflare",
        some=(
            "cf-error-details",
            "cf-error-code",
            "cf_styles-css",
            "cf.errors.css",
            "/cdn-cgi/styles/main.css",
        ),
        every=("cloudflare",),
    ),
    Mark(
        "waiting-room",
        "cloudflare",
        some=("waiting room powered by cloudflare", "cf-waitingroom", "__cfwaitingroom"),
    ),
    Mark(
        "turnstile-only", "cloudflare", some=("cf-turnstile", "challenges.cloudflare.com/turnstile"), most=500
    ),
    # Akamai
    Mark(
        "edge-denied",
        "akamai",
        ("reference",),
        (
            "errors.edgesuite.net",
            "you don't have permission to access",
            "you don&#39;t have permission to access",
        ),
        most=1200,
    ),
    Mark(
        "edge-error",
        "akamai",
        ("reference #",),
        (
            "access denied",
            "an error occurred while processing your request",
            "the requested url",
            "invalid url",
        ),
        most=800,
        where="visible",
    ),
    Mark(
        "crypto-challenge",
        "akamai",
        some=("sec-if-cpt-container", "/_sec/cp_challenge/", "sec-cpt-if", "scf-akamai", "akam-sw-challenge"),
        most=1500,
    ),
    Mark(
        "bm-verify",
        "akamai",
        some=("bm-verify=", "/_sec/verify?provider=interstitial", "triggerinterstitialchallenge"),
    ),
    # DataDome: the sensor is js.datadome.co/tags.js.
    Mark(
        "captcha-delivery",
        "datadome",
        some=(
            "geo.captcha-delivery.com",
            "ct.captcha-delivery.com",
            "interstitial.captcha-delivery.com",
            "captcha-delivery.com/captcha",
        ),
        most=700,
    ),
    # Imperva, formerly Incapsula and Distil
    Mark(
        "incident",
        "imperva",
        some=(
            "incapsula incident id",
            "incident_id=",
            "_incapsula_resource?cwudnsai",
            "_incapsula_resource?edet",
        ),
        most=1500,
    ),
    Mark("resource-only", "imperva", ("_incapsula_resource",), most=250),
    Mark(
        "distil",
        "imperva",
        some=(
            "distil_r_captcha",
            "distil_r_blocked",
            "distilidentificationblock",
            "distilcaptchaform",
            "/distil_identify_cookie",
        ),
    ),
    Mark("interruption", "imperva", some=("pardon our interruption",), most=2500, where="visible"),
    Mark(
        "block-page",
        "imperva",
        some=("powered by imperva", "imperva incident id", "errors.imperva.com"),
        most=2000,
    ),
    # HUMAN (PerimeterX): the sensor is client.px-cloud.net/<app>/main.min.js.
    Mark(
        "px-captcha",
        "perimeterx",
        some=('id="px-captcha', "id='px-captcha", "px-captcha-wrapper", "px-captcha-container"),
        most=1500,
        where="markup",
    ),
    Mark(
        "px-block",
        "perimeterx",
        some=(
            "_pxblock",
            "captcha.px-cdn.net",
            "captcha.px-cloud.net",
            "/captcha/captcha.js?a=c",
            "captcha.perimeterx.net",
            "px-cdn.net/captcha",
            "blockscript",
        ),
        every=("px",),
        most=700,
    ),
    Mark(
        "px-denied",
        "perimeterx",
        some=(
            "access to this page has been denied",
            "press & hold to confirm you are",
            "press and hold to confirm",
        ),
        most=1500,
        where="visible",
    ),
    # Kasada
    Mark("kpsdk", "kasada", some=("kpsdk.now", "window.kpsdk", "/ips.js?", "x-kpsdk-"), most=200),
    # F5: its application firewall and Shape
    Mark("support-id", "f5", ("your support id is",), most=1200),
    Mark("rejected", "f5", ("the requested url was rejected", "consult with your administrator"), most=1200),
    Mark("script-gate", "f5", some=("bobcmn", "/tspd/", 'window["bobcmn"]', "f5_cspm"), most=200),
    Mark("shape-gate", "f5", some=("istlwashere", "_imp_apg_r_"), most=200),
    # Sucuri
    Mark("cookie-gate", "sucuri", some=("sucuri_cloudproxy_js",), most=1500),
    Mark(
        "firewall",
        "sucuri",
        some=("sucuri website firewall", "cloudproxy@sucuri.net", "sucuri.net/privacy-policy"),
        most=3000,
    ),
    # Amazon
    Mark(
        "waf-challenge",
        "aws-waf",
        some=(
            "gokuprops",
            "awswafintegration.forcerefreshtoken",
            "awswafintegration.checkforcerefresh",
            "awswafcaptcha",
            "captcha.awswaf.com",
            "captchascript.rendercaptcha",
        ),
        most=900,
    ),
    Mark("waf-token-only", "aws-waf", some=(".token.awswaf.com", "challenge.compact.js"), most=150),
    Mark(
        "robot-check",
        "amazon",
        some=(
            "/errors/validatecaptcha",
            "opfcaptcha",
            "api-services-support@amazon.com",
            "to discuss automated access to amazon data",
        ),
        most=2500,
    ),
    Mark("could-not-be-satisfied", "cloudfront", ("request could not be satisfied",), most=1500),
    Mark("generated-by", "cloudfront", ("generated by cloudfront",), most=1500),
    # Proof of work and self-hosted gates
    Mark(
        "anubis",
        "anubis",
        some=("anubis_challenge", "anubis_version", "/.within.website/x/cmd/anubis"),
        most=1500,
    ),
    Mark(
        "go-away",
        "go-away",
        some=("/.well-known/.git.gammaspectra.live/git/go-away", "go-away challenge"),
        most=1500,
    ),
    Mark("haproxy-protection", "basedflare", some=("basedflare", "/.basedflare/"), most=1500),
    Mark("cerberus", "cerberus", some=("/.cerberus/",), most=1500),
    Mark("safeline", "safeline", some=("/.safeline/", "safeline_challenge", "sl-challenge"), most=1500),
    # Queues
    Mark(
        "queue",
        "queue-it",
        some=("queue-it.net", "powered by queue-it", "queue-it_"),
        every=("queue",),
        most=900,
    ),
    Mark("throttle-queue", "shopify", some=("/throttle/queue", "checkout-queue"), most=900),
    # Others, by their own block pages
    Mark(
        "sorry",
        "google",
        some=("/sorry/index", "our systems have detected unusual traffic", "google.com/sorry"),
        most=2500,
    ),
    Mark("consent", "google", some=("consent.google.", "consent.youtube."), most=2500),
    Mark("consent", "yahoo", some=("consent.yahoo.com", "guce.yahoo.com"), most=3000),
    Mark("reblaze", "reblaze", some=("rbzns", "window.rbz", "rbzid="), most=300),
    Mark(
        "perfdrive",
        "radware",
        some=(
            "perfdrive.com",
            "shieldsquare",
            "ssjsinternal",
            "radware bot manager",
            "captcha.radwarebotmanager",
        ),
        most=900,
    ),
    Mark(
        "checkpoint", "vercel", some=("vercel security checkpoint", "/.well-known/vercel/security/"), most=900
    ),
    Mark("client-challenge", "fastly", some=("/_fs-ch-",), most=900),
    Mark("ddos-guard", "ddos-guard", some=("/.well-known/ddos-guard/", "ddos-guard"), most=900),
    Mark("sgcaptcha", "siteground", some=("/.well-known/sgcaptcha",), most=900),
    Mark(
        "imunify",
        "imunify360",
        some=("imunify360", "wsidchk", "/z0f76a1d14fd21a8fb5fd0d03e0fdc3d3cedae52f"),
        most=900,
    ),
    Mark("wordfence", "wordfence", some=("generated by wordfence", "wordfence.com/help"), most=3500),
    Mark("stackpath", "stackpath", some=("sbtsck", "stackpath"), most=400),
    Mark("bunny-shield", "bunny", some=("bunny shield", "/.bunny-shield/"), most=900),
    Mark("bitninja", "bitninja", some=("bitninja",), most=3000),
    Mark("arvan", "arvancloud", some=("__arcsjs", "arvancloud", "ar_challenge"), most=600),
    Mark("qrator", "qrator", some=("__qrator", "qauth.js"), most=400),
    Mark("azion", "azion", some=("azion.com/challenge",), most=900),
    Mark(
        "punish",
        "alibaba",
        some=("_____tmd_____", "x5secdata", "/punish?", "aliyun_waf", "acw_sc__v2", "nc_1_n1z"),
        most=700,
    ),
    Mark("visitor-system", "weibo", some=("sina visitor system", "passport.weibo."), most=300),
    Mark(
        "showcaptcha",
        "yandex",
        some=("/showcaptcha", "smart-captcha", "captcha-backgrounds.s3.yandex"),
        most=1500,
    ),
    Mark(
        "humanity",
        "reddit",
        some=("prove your humanity", "whoa there, pardner", "blocked by network security"),
        every=("reddit",),
        most=2500,
    ),
    Mark("azure", "azure-waf", ("the request is blocked",), ("x-azure-ref", "azure", "ref:", "0"), most=400),
    Mark(
        "fortiweb",
        "fortinet",
        some=("fortigate application control", "fortiguard", "web page blocked!", "fgd_icon"),
        most=2000,
    ),
    Mark(
        "modsecurity",
        "modsecurity",
        some=("mod_security", "this error was generated by mod_security"),
        most=900,
    ),
    Mark("barracuda", "barracuda", some=("barracuda networks", "bni__barracuda"), most=900),
    Mark("citrix", "netscaler", some=("ns_cap_", "/ns_gui/", "application firewall block page"), most=900),
    Mark("webknight", "webknight", ("webknight",), most=2000),
    Mark("edgeone", "tencent", some=("edgeone", "eo_bot_"), every=("captcha",), most=700),
)

CAPTCHAS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "recaptcha",
        ("google.com/recaptcha", "recaptcha.net/recaptcha", "g-recaptcha", "gstatic.com/recaptcha"),
    ),
    ("hcaptcha", ("hcaptcha.com/", "h-captcha")),
    ("cloudflare", ("challenges.cloudflare.com/turnstile", "cf-turnstile")),
    ("arkose", ("arkoselabs.com", "funcaptcha", "fc-token")),
    ("geetest", ("geetest",)),
    ("friendly-captcha", ("frc-captcha", "friendlycaptcha")),
    ("altcha", ("<altcha-widget", "altcha.org")),
    ("mtcaptcha", ("mtcaptcha",)),
    ("tencent", ("tencentcaptcha", "captcha.qq.com")),
    ("yandex", ("smartcaptcha.yandexcloud", "smart-captcha")),
    ("captcha-eu", ("captcha.eu/",)),
    ("keycaptcha", ("keycaptcha",)),
    ("lemin", ("leminnow.com",)),
)
"""Widgets: a page that has one and next to nothing else is a gate."""
