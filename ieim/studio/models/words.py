"""What the choices of the draft are called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

_CALLED: dict[str, StrPromise] = {
    "intents": _("intents"),
    "product_lines": _("product lines"),
    "urgencies": _("urgencies"),
    "risk_flags": _("risk flags"),
    "entity_types": _("entity types"),
    "key_types": _("key types"),
    "danger": _("danger"),
    "near_miss": _("near miss"),
    "greeting": _("greeting"),
    "thanks": _("thanks"),
    "off_topic": _("off topic"),
    "unclear": _("unclear"),
    "abuse": _("abuse"),
}


def choices(names: Iterable[str]) -> list[tuple[str, StrPromise]]:
    """Return the choices of a column that holds one of ``names``."""
    return [(name, _CALLED[name]) for name in names]
