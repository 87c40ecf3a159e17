"""Deciding review items: the whole interface for pages and the REST API.

Every write is atomic; a refused one changes nothing.
"""

from __future__ import annotations

from review.deciding.answers import complete_output
from review.deciding.errors import Conflict, Refused, Unchosen, Unconfirmed
from review.deciding.making import decide
from review.deciding.parents import parent_of
from review.deciding.permitted import may, opinion_wanted
from review.deciding.previews import Preview, preview
from review.deciding.signing.confirming import why as why_confirm
from review.deciding.signing.signatures import sign
from review.deciding.signing.signing import agencies as signing_agencies
from review.deciding.signing.signing import missing as missing_signatures
from review.deciding.signing.undoing import undo
from review.models import Action, Decision

__all__ = [
    "Action",
    "Conflict",
    "Decision",
    "Preview",
    "Refused",
    "Unchosen",
    "Unconfirmed",
    "complete_output",
    "decide",
    "may",
    "missing_signatures",
    "opinion_wanted",
    "parent_of",
    "preview",
    "sign",
    "signing_agencies",
    "undo",
    "why_confirm",
]
