"""Currencies as people write them.

A currency's name is its ISO 4217 code, or, where a sign or a word leaves the country open, the name
of a family of codes: "$40" may be "USD 40" and "CAD 40", which are not the same.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ISO_CODES = _words(
    """AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP
    BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL
    GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW
    KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN
    NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK
    SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES
    VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL"""
)

ENGLISH_WORDS = _words("ALL BAM BOB COP CUP GEL LAK MAD MOP NAD PEN PHP RON SOS TOP TRY")
"""Codes that must be in capitals."""

NEVER_BEFORE = frozenset({"ALL", "TOP"})
"""Codes that are no currency before a number: "ALL 3 forms", "the TOP 10"."""

FAMILIES: dict[str, frozenset[str]] = {
    name: _words(codes)
    for name, codes in {
        "dollar": "AUD BBD BMD BND BSD BZD CAD FJD GYD HKD JMD KYD LRD NAD NZD SBD SGD SRD TTD TWD "
        "USD XCD ZWL ARS CLP COP MXN",
        "cent": "AUD CAD EUR KES NZD USD ZAR dollar",
        "dinar": "BHD DZD IQD JOD KWD LYD RSD TND",
        "dirham": "AED MAD",
        "franc": "BIF CDF CHF DJF GNF KMF RWF XAF XOF XPF",
        "krone": "CZK DKK ISK NOK SEK",
        "peso": "ARS CLP COP CUP DOP MXN PHP UYU dollar",
        "pound": "EGP FKP GBP GIP LBP SDG SHP SSP SYP",
        "riyal": "IRR OMR QAR SAR YER",
        "rupee": "INR LKR MUR NPR PKR SCR",
        "shilling": "KES SOS TZS UGX",
        "yen": "CNY JPY",
    }.items()
}

WORDS: dict[str, str] = {
    word: name
    for name, words in {
        "BDT": "taka",
        "BGN": "lev leva",
        "BRL": "reais",
        "CNY": "yuan renminbi",
        "CZK": "kc koruna",
        "ETB": "birr",
        "EUR": "euro",
        "GBP": "quid",
        "GHS": "cedi",
        "HUF": "forint ft",
        "IDR": "rupiah",
        "ILS": "shekel",
        "JPY": "yen",
        "KRW": "won",
        "KZT": "tenge",
        "MYR": "ringgit",
        "NGN": "naira",
        "PLN": "zloty złoty zlotych złotych zł",
        "RON": "lei",
        "RUB": "ruble rouble",
        "THB": "baht",
        "TRY": "lira",
        "UAH": "hryvnia",
        "VND": "dong",
        "ZAR": "rand",
        "ZMW": "kwacha",
        "cents": "cent",
        "dinar": "dinar",
        "dirham": "dirham",
        "dollar": "dollar buck",
        "franc": "franc",
        "krone": "kr krone kroner krona kronor crown",
        "pence": "penny pence",
        "peso": "peso",
        "pound": "pound",
        "riyal": "riyal rial",
        "rupee": "rupee rs",
        "shilling": "shilling ksh sh",
    }.items()
    for word in words.split()
}

MINOR_UNITS = {"cents": "cent", "pence": "GBP"}
"""Words for a hundredth, with the currency that they are a hundredth of."""

SIGNS = {
    "$": "dollar",
    "¢": "cents",
    "£": "pound",
    "¥": "yen",
    "€": "EUR",
    "₦": "NGN",
    "₨": "rupee",
    "₩": "KRW",
    "₪": "ILS",
    "₫": "VND",
    "₱": "PHP",
    "₴": "UAH",
    "₵": "GHS",
    "₸": "KZT",
    "₹": "INR",
    "₺": "TRY",
    "₽": "RUB",
    "฿": "THB",
    "৳": "BDT",
}

ABBREVIATIONS = {
    "Fr": "franc",
    "SFr": "CHF",
    "KSH": "KES",
    "KSh": "KES",
    "Ksh": "KES",
    "KShs": "KES",
    "Kshs": "KES",
    "Kr": "krone",
    "kr": "krone",
    "RM": "MYR",
    "Rp": "IDR",
    "Rs": "rupee",
    "Sh": "shilling",
    "Shs": "shilling",
    "TSh": "TZS",
    "USh": "UGX",
    "zł": "PLN",
}
"""What may stand before a number, in this case only."""

ADJECTIVES = {
    (adjective, "dollar"): code
    for adjective, code in {
        "american": "USD",
        "australian": "AUD",
        "canadian": "CAD",
        "us": "USD",
        "u.s.": "USD",
    }.items()
}

DOLLARS = {
    "A": "AUD",
    "AU": "AUD",
    "C": "CAD",
    "CA": "CAD",
    "HK": "HKD",
    "NT": "TWD",
    "NZ": "NZD",
    "R": "BRL",
    "S": "SGD",
    "US": "USD",
}
"""Whose dollars the letters before the sign say."""


UNSAID = "?"
"""The name for a currency that is not said: "The fee is 46." """


def compatible(one: str, other: str) -> bool:
    """Whether two names may mean the same currency.

    Where the first is not said the second gives it, never the other way round.
    """
    if one == UNSAID:
        return True
    return (
        one == other
        or other in FAMILIES.get(one, frozenset())
        or one in FAMILIES.get(other, frozenset())
    )
