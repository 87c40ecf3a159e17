"""Why a decision was not taken. Nothing was changed."""

from __future__ import annotations

from collections.abc import Sequence

from ieim.pipeline.findings import Finding


class Refused(Exception):
    """It may not be decided like this.

    ``message`` is the plain sentence for the caseworker: what is wrong and what to do.
    ``findings`` are the gate's, where the gate said no.
    """

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.findings = list(findings)


class Unconfirmed(Refused):
    """An approval in a crisis, without the confirmation that it needs."""


class Unchosen(Unconfirmed):
    """An approval of what the citizen has refused, likewise."""


class Conflict(Exception):
    """Somebody else changed the item meanwhile; ``message`` says who and what."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
