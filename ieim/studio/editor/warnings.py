"""What looks wrong in an entry, field by field: it may be meant, so it stops nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext

from ieim.knowledge.bundles.rows import Table
from ieim.pipeline.facts import facts, money
from ieim.studio.drafts.selectors import link_warnings
from ieim.studio.models import Service

MOST = Decimal(100_000)
"""An amount above it is more likely a slip than a fee."""
_AMOUNT = re.compile(
    r"(?<![\w.,])\d{1,12}(?:[.,' ]\d{3})*(?:[.,]\d{1,9})?(?![\w%])(?:\s+[^\W\d]\w*)?"
)
_CENTS = re.compile(r"[.,]\d{1,2}(?!\d)|\d\s+[A-Z]")
"""A number that reads as money: with decimals, or before a word with a capital letter."""
_MAIL = re.compile(
    r"(?<![^\s,;<>])(?:[^\s,;<>@]++@[^\s,;<>]*|@[^\s,;<>]+"
    r"|[^\s,;<>(\[]++\s?[(\[]at[)\]]\s?[^\s,;<>]*)",
    re.IGNORECASE,
)
_PHONE = re.compile(r"\+?\(?\d[\d ()./-]{5,60}\d")
_KEY = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_LONGEST_PHONE = 15
"""Digits of a telephone number, after ITU-T E.164."""


def warnings_of(table: Table, values: Mapping[str, Any], *, new: bool) -> dict[str, list[str]]:
    """Return sentences by column; ``values`` are an entry's columns, good or not."""
    warnings: dict[str, list[str]] = {}

    def add(column: str, sentences: Iterable[str]) -> None:
        warnings.setdefault(column, []).extend(sentences)

    name = "id" if table == "agencies" else "key"
    if new and (key := values.get(name) or "") and not _KEY.fullmatch(key):
        add(name, [gettext("Small letters, digits and hyphens are easiest to refer to.")])
    if table == "services":
        add("fees", _fees(values["fees"] or "", values))
        add("contact", (*_addresses(values["contact"] or ""), *_phones(values["contact"] or "")))
        url, service = values["url"] or "", f"{values['agency']} {values['key']}"
        rows = Service.objects.filter(url=url).exclude(url="")
        others = [(f"{row.agency_id} {row.key}", url) for row in rows]
        add("url", link_warnings([(service, url)], [o for o in others if o[0] != service]))
    if str(values.get("path") or "").lower().startswith(("http:", "https:")):
        add("path", link_warnings([(gettext("Page"), values["path"])]))
    return {column: sentences for column, sentences in warnings.items() if sentences}


def _fees(text: str, values: Mapping[str, Any]) -> Iterator[str]:
    currencies: Collection[str] = ()
    if set(money.codes(text)):
        # A currency that ISO 4217 does not list is known where another service has it too.
        others = Service.objects.exclude(agency=values["agency"], key=values["key"])
        fees = others.exclude(fees="").values_list("fees", flat=True)
        currencies = {code for other in fees for code in money.codes(other)}
    all_facts = facts(text, currencies=currencies)
    for fact in all_facts:
        if fact.kind == "money" and fact.value.startswith(money.UNSAID):
            message = gettext("“{amount}” says no currency.")
            yield message.format(amount=fact.text)
        elif fact.kind == "money" and Decimal(fact.value.split(" ")[1]) > MOST:
            yield gettext("“{amount}” is a lot. Is it right?").format(amount=fact.text)
    for match in _AMOUNT.finditer(text):
        is_known = any(fact.start < match.end() and match.start() < fact.end for fact in all_facts)
        if not is_known and (_CENTS.search(match[0]) or match[0] == text.strip(" .")):
            message = gettext("“{amount}” names no currency that ISO 4217 or another service has.")
            yield message.format(amount=match[0].strip())


def _addresses(text: str) -> Iterator[str]:
    for match in _MAIL.finditer(text):
        address = match[0].strip(".:()")
        try:
            validate_email(address)
        except ValidationError:
            message = gettext("“{address}” is no e-mail address: write it as name@example.org.")
            yield message.format(address=address)


def _phones(text: str) -> Iterator[str]:
    dates = [fact for fact in facts(text) if fact.kind != "phone"]
    for match in _PHONE.finditer(text):
        if any(fact.start < match.end() and match.start() < fact.end for fact in dates):
            continue
        digits = sum(map(str.isdigit, match[0]))
        if digits > _LONGEST_PHONE:
            message = gettext("“{number}” has more digits than a telephone number: at most {most}.")
            yield message.format(number=match[0], most=_LONGEST_PHONE)
        elif match[0].startswith("+") and digits < 8:
            yield gettext("“{number}” is too short for abroad.").format(number=match[0])
