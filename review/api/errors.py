"""Problem details of requests that are not done."""

from __future__ import annotations

from ieim.studio.api import staff
from ieim.studio.api.schema import NotDone
from review import finding_texts
from review.deciding import Action, Outdated, Refused, Unchosen, Unconfirmed, Unsourced

UNCONFIRMED = "crisis-unconfirmed"
"""The problem of an approval in a crisis whose payload does not say ``confirmed``."""
UNCHOSEN = "refused-unconfirmed"
"""That of an approval of what the citizen was offered and did not want."""
OUTDATED = "service-changed-unconfirmed"
"""That of a reply with a service that was withdrawn or changed since."""
UNSOURCED = "text-unconfirmed"
"""That of a written reply that states what none of its sources does."""


class Changed(staff.Changed):
    """412: the item is not what the client has seen."""

    default_detail = "The item has changed since you read it. Read it again before you decide."


class NoVersion(staff.NoVersion):
    """428: the client does not say what it has seen."""

    default_detail = "Send the item’s ETag as If-Match: it says which version you have seen."


class NotDecided(NotDone):
    """422: it may not be decided like this; ``errors`` are the gate's findings."""

    def __init__(self, refused: Refused, action: Action) -> None:
        # Only an override brings the answer that is judged; otherwise it is the model's.
        brings = action is Action.OVERRIDE
        errors = [
            {
                "pointer": f"/payload/output{finding.path}" if brings else "/action",
                "detail": f"{finding_texts.sentence(finding.code)} {finding.message}",
                "code": finding.code.value,
                "path": finding.path,
            }
            for finding in refused.findings
        ]
        super().__init__(refused.message, errors)
        if isinstance(refused, Unconfirmed):
            self.slug = UNCHOSEN if isinstance(refused, Unchosen) else UNCONFIRMED
        if isinstance(refused, Outdated):
            self.slug = OUTDATED
        if isinstance(refused, Unsourced):
            self.slug = UNSOURCED
