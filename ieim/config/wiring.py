"""Connection of the ports of lower apps to their implementations in higher ones."""

from __future__ import annotations

from django.db.models.signals import post_save

from conversations import ports, retention, sweeper
from conversations.models import Rating, Reply
from conversations.turns import store
from ieim.people.scope import wire_agencies
from ieim.studio import runs
from ieim.studio.drafting import services as drafting
from ieim.studio.drafts.selectors import agency_names
from ieim.studio.fresh import services as fresh
from ieim.studio.gaps import collecting as gaps
from ieim.studio.proposals import timing
from ieim.studio.webpages import services as webpages
from review import deciding, services
from review.batches import services as batches
from review.board import alerts
from review.board import services as board
from review.metrics import services as metrics
from review.models import ReviewItem
from review.quality import services as quality
from review.queue.selectors import due_of_turns
from review.replies import translating


class Reviews:
    """The port of conversations to reviews."""

    open = staticmethod(services.open_item)
    count = staticmethod(services.count_items)
    decisions = staticmethod(services.decisions)
    decided_sessions = staticmethod(services.decided_sessions)
    decided_turns = staticmethod(services.decided_turns)
    erase = staticmethod(services.erase_items)
    refresh = staticmethod(services.refresh)
    withdraw = staticmethod(services.withdraw)
    refresh_before_reply = staticmethod(services.refresh_before_reply)
    due = staticmethod(due_of_turns)


def wire() -> None:
    """Connect every port; called once when the apps are ready."""
    wire_agencies(agency_names)
    ports.wire(Reviews())
    store.OTHER_TOKENS["drafting"] = drafting.tokens_since
    store.OTHER_TOKENS["webpages"] = webpages.tokens_since
    store.OTHER_TOKENS["translations"] = translating.tokens_since
    retention.DELETE["drafts"] = drafting.forget
    for model in (Rating, Reply, ReviewItem):
        post_save.connect(gaps.after_ending, sender=model)
    sweeper.SWEEPS["change_sets"] = lambda now, at_start: timing.sweep(now=now)
    sweeper.SWEEPS["runs"] = lambda now, at_start: runs.sweep(now=now, at_start=at_start)
    sweeper.SWEEPS["figures"] = lambda now, _: metrics.roll_up(now=now)
    sweeper.SWEEPS["samples"] = lambda now, _: quality.sweep(now=now)
    sweeper.SWEEPS["decisions"] = lambda now, _: deciding.sweep(now=now)
    sweeper.SWEEPS["batches"] = lambda now, _: batches.sweep(now=now)
    sweeper.SWEEPS["outage_items"] = lambda _now, _: services.retry_after_outage()
    sweeper.SWEEPS["desk"] = lambda now, _: alerts.sweep(now=now)
    sweeper.SWEEPS["stale_claims"] = lambda now, _: board.release_stale_claims(now=now)
    sweeper.SWEEPS["gaps"] = lambda _now, at_start: gaps.sweep(at_start=at_start)
    sweeper.SWEEPS["fresh"] = lambda now, _: fresh.sweep(now=now)
    sweeper.SWEEPS["webpages"] = lambda now, _: webpages.sweep(now=now)
