"""Deciding review items: the whole interface for pages and the REST API.

Every write is atomic; a refused one changes nothing.
"""

from __future__ import annotations

from review.deciding.actions import Preview, preview
from review.deciding.answers import complete_output
from review.deciding.locking import Conflict, Outdated, Refused, Unchosen, Unconfirmed, Unsourced
from review.deciding.permitted import may, opinion_wanted
from review.deciding.services import decide, sign, sweep, undo
from review.deciding.signing import missing_signatures, signing_agencies, why_confirm
from review.models import Action, Decision

__all__ = [
    "Action",
    "Conflict",
    "Decision",
    "Outdated",
    "Preview",
    "Refused",
    "Unchosen",
    "Unconfirmed",
    "Unsourced",
    "complete_output",
    "decide",
    "may",
    "missing_signatures",
    "opinion_wanted",
    "preview",
    "sign",
    "signing_agencies",
    "sweep",
    "undo",
    "why_confirm",
]
