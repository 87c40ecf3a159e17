"""Why a reviewer's request is not done, as problem details."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rest_framework.exceptions import APIException

from ieim.pipeline.findings import Finding
from ieim.studio.api import staff
from review import finding_texts
from review.deciding import Action, Outdated, Refused, Unchosen, Unconfirmed

OUTPUT = "/payload/output"
UNCONFIRMED = "crisis-unconfirmed"
"""The problem of an approval in a crisis whose payload does not say ``confirmed``."""
UNCHOSEN = "refused-unconfirmed"
"""That of an approval of what the citizen was offered and did not want."""


OUTDATED = "service-changed-unconfirmed"
"""That of a reply with a service that was withdrawn or changed since."""


class ItemConflict(APIException):
    """409: somebody else has the item, or was faster."""

    status_code = 409


class Changed(staff.Changed):
    """412: the item is not what the client has seen."""

    default_detail = "The item has changed since you read it. Read it again before you decide."


class NoVersion(staff.NoVersion):
    """428: the client does not say what it has seen."""

    default_detail = "Send the item’s ETag as If-Match: it says which version you have seen."


class NotDecided(APIException):
    """422: it may not be decided like this; ``errors`` are the gate's findings."""

    status_code = 422

    def __init__(self, refused: Refused, action: Action) -> None:
        super().__init__(refused.message)
        self.errors = list(_errors(refused.findings, action))
        if isinstance(refused, Unconfirmed):
            self.slug = UNCHOSEN if isinstance(refused, Unchosen) else UNCONFIRMED
        if isinstance(refused, Outdated):
            self.slug = OUTDATED


def _errors(findings: list[Finding], action: Action) -> Iterator[dict[str, Any]]:
    for finding in findings:
        # Only an override brings the answer that is judged; otherwise it is the model's.
        place = OUTPUT + finding.path if action is Action.OVERRIDE else "/action"
        yield {
            "pointer": place,
            "detail": f"{finding_texts.sentence(finding.code)} {finding.message}",
            "code": finding.code.value,
            "path": finding.path,
        }
