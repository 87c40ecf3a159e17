"""Where the layers meet: ports of the lower apps get their implementations from the upper ones."""

from __future__ import annotations

from conversations.ports import (
    wire_due,
    wire_erasure,
    wire_review,
    wire_settling,
    wire_withdrawing,
)
from ieim.people.scope import wire_agencies
from ieim.studio.drafts.selectors import agency_names
from review.queue.selectors import due_of_turns
from review.services import count_items, erase_items, open_item, settle, withdraw


def wire() -> None:
    """Connect every port; called once when the apps are ready."""
    wire_agencies(agency_names)
    wire_review(open_item)
    wire_erasure(count_items, erase_items)
    wire_due(due_of_turns)
    wire_settling(settle)
    wire_withdrawing(withdraw)
