"""What the tests of proposals and of the editors' pages share."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest

from ieim.audit.models import SYSTEM_CHAIN, AuditEvent, AuditHead
from ieim.audit.services import lock_head
from ieim.knowledge.models import Release
from ieim.people.models import User
from ieim.studio.drafts import editing
from ieim.studio.models import Change, GoldenQuestion, GoldenRun, Proposal, Service
from ieim.studio.proposals import services as proposals
from ieim.studio.proposals.services import ProposalError


def change(by: User, agency: str = "passports", key: str = "renew", **values: Any) -> None:
    """Change a service of the draft."""
    entry = Service.objects.get(agency=agency, key=key)
    editing.save(
        table="services",
        values={"agency": agency, "key": key, **values},
        by=by,
        expected_version=entry.version,
        source=Change.Source.ADMIN,
    )


def proposed(by: User, fees: str = "90 crowns") -> Proposal:
    """The draft with another fee, proposed."""
    change(by, fees=fees)
    return proposals.propose(note="A new fee", by=by)


def published(proposal_id: int, by: User) -> Release:
    """Publish a proposal at once."""
    release = proposals.publish_proposal(proposal_id=proposal_id, by=by)
    assert release is not None
    return release


def reasons(action: Any, **arguments: Any) -> list[str]:
    """Why it cannot be done."""
    with pytest.raises(ProposalError) as caught:
        action(**arguments)
    return caught.value.reasons


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, do: Callable[[], object], *modules: ModuleType
) -> None:
    """Let somebody else ``do`` something right before the first lock that ``modules`` take."""
    todo = [do]

    def lock(chain: UUID) -> AuditHead:
        if todo:
            todo.pop()()
        return lock_head(chain)

    for module in modules:
        monkeypatch.setattr(module, "lock_head", lock)


def run(proposal: Proposal, state: str, losses: int = 0) -> GoldenRun:
    """A run of the golden questions, as trying leaves it."""
    return GoldenRun.objects.create(
        proposal=proposal, state=state, losses=losses, created_by=proposal.proposed_by
    )


def ask_golden() -> None:
    """Have a golden question."""
    GoldenQuestion.objects.create(name="one", case={"id": "one", "text": "How much?"})


def events() -> list[str]:
    """The kinds of the system's events about proposals and publications, oldest first."""
    published = AuditEvent.objects.filter(chain=SYSTEM_CHAIN, kind__startswith="knowledge.p")
    return list(published.order_by("seq").values_list("kind", flat=True))
