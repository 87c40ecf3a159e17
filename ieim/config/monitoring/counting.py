"""Counters: what the audit record says has happened, counted on from where the last scrape was.

Rows go when a citizen erases a conversation, and a counter that falls is a restart to Prometheus;
events stay. The totals are in the cache, so that every process reports the same ones. Where it was
emptied they begin at zero, at what is newest, as the counters of a program that was restarted.
"""

from __future__ import annotations

import bisect
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.core.cache import cache
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from conversations.models import ReplyOrigin, Turn
from conversations.turns.models import ChoiceOutcome
from ieim.audit.models import EMPTIED, AuditEvent
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import STAGES
from review.metrics.selectors import LEFT, OUTSIDE, UNSAID, WITHOUT_A_PERSON

SETTLED: Final = timedelta(seconds=15)
"""An event may be committed after a later one: whichever is younger is left to the next scrape."""

BATCH: Final = 20_000
"""Events that one scrape reads at most: a second. What is more waits for the next ones."""

KEY: Final = "metrics.totals"

CALL_SECONDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 60.0)
TURN_SECONDS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0, 1800.0, 7200.0, 28800.0, 86400.0)

Key = tuple[str, ...]
"""A counter's name and the values of its labels; of a histogram the bound, ``sum``, comes last."""

_OUTCOMES: Final = (
    *(origin.value for origin in ReplyOrigin),
    *(OUTSIDE, UNSAID, LEFT),
    *("asking", "needs_review", "awaiting_model", "closed"),
)
_RESULTS: Final = ("passed", "failed", "unanswered", "unused")
_TOKENS: Final = ("prompt", "completion", "cached", "unused")

COUNTERS: Final[Mapping[str, tuple[str, tuple[str, ...], tuple[Key, ...]]]] = {
    "ieim_turns_received": ("Messages of citizens that were stored.", (), ((),)),
    "ieim_turns": (
        "What became of turns: how they were answered, that no service is about them (outside), "
        "that the entry does not say what was asked (unsaid), that they asked back (asking) and "
        "nothing was chosen (left), were held or failed closed (needs_review), wait for the model, "
        "or were closed. A turn counts once for each of these that it comes to.",
        ("outcome",),
        tuple((outcome,) for outcome in _OUTCOMES),
    ),
    "ieim_choices": (
        "How asking back ended.",
        ("outcome",),
        tuple((outcome.value,) for outcome in ChoiceOutcome if outcome.value),
    ),
    "ieim_findings": (
        "What the gate found in answers of the model.",
        ("code",),
        tuple((code.value,) for code in Code),
    ),
    "ieim_model_calls": (
        "Calls of the model by what came of them: unused were made ahead and not needed.",
        ("stage", "result"),
        tuple((stage, result) for stage in STAGES for result in _RESULTS),
    ),
    "ieim_model_errors": (
        "Calls to which no answer could be had.",
        ("code",),
        ((Code.MODEL_TIMEOUT.value,), (Code.MODEL_UNAVAILABLE.value,)),
    ),
    "ieim_model_tokens": (
        "Tokens as the model server counts them; cached are among prompt.",
        ("kind",),
        tuple((kind,) for kind in _TOKENS),
    ),
    "ieim_fallbacks": (
        "Stages whose text failed twice and that prepared words answered.",
        ("stage",),
        (),
    ),
    "ieim_over_budget": ("Calls that were not made for a budget.", ("stage",), ()),
    "ieim_review_opened": ("Review items opened, by the stage that stopped.", ("stage",), ()),
    "ieim_review_decided": ("Decisions of caseworkers.", ("action",), ()),
    "ieim_mail": (
        "E-mails to citizens: sent, or put off because the server did not take them.",
        ("result",),
        (("sent",), ("postponed",)),
    ),
}
"""Help, names of the labels, and the label values that are reported as 0 at first, by name."""

HISTOGRAMS: Final[Mapping[str, tuple[str, str, tuple[float, ...], tuple[str, ...]]]] = {
    "ieim_model_call_seconds": ("Seconds of answered calls.", "stage", CALL_SECONDS, (*STAGES,)),
    "ieim_turn_seconds": (
        "Seconds from a message to its answer, by whether a person had a part in it.",
        "by",
        TURN_SECONDS,
        ("machine", "person"),
    ),
}
"""Help, label, upper bounds, and the values of the label."""


def collect() -> Iterator[Metric]:
    """Count what is new, and yield every counter and histogram."""
    totals = _update_totals()
    for name, (text, labels, expected) in COUNTERS.items():
        family = CounterMetricFamily(name, text, labels=labels)
        counted = {key[1:] for key in totals if key[0] == name}
        for values in sorted({*expected, *counted}):
            family.add_metric(values, totals[name, *values])
        yield family
    for name, (text, label, bounds, parts) in HISTOGRAMS.items():
        histogram = HistogramMetricFamily(name, text, labels=[label])
        for value in parts:
            so_far, buckets = 0.0, []
            for bound in (*map(str, bounds), "+Inf"):
                so_far += totals[name, value, bound]
                buckets.append((bound, so_far))
            histogram.add_metric([value], buckets, totals[name, value, "sum"])
        yield histogram


def _update_totals() -> Counter[Key]:
    last: int | None
    totals: Counter[Key]
    last, totals = cache.get(KEY) or (None, Counter())
    # Two scrapes at once would come to the same: this only spares the second one the work.
    if not cache.add(f"{KEY}.lock", 1, timeout=30):
        return totals
    try:
        reached = _count(last, totals)
        if reached != last:
            cache.set(KEY, (reached, totals), timeout=None)
    finally:
        cache.delete(f"{KEY}.lock")
    return totals


def _count(last: int | None, totals: Counter[Key]) -> int:
    """Count the settled events after ``last`` into ``totals``; return the last one."""
    if last is None:
        return AuditEvent.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    settled_before = timezone.now() - SETTLED
    new = AuditEvent.objects.filter(pk__gt=last).order_by("pk")
    end = last
    for pk, at in new.values_list("pk", "at")[:BATCH]:
        if at > settled_before:
            break
        end = pk
    answered: dict[str, tuple[str, datetime]] = {}
    counted = new.filter(pk__lte=end, kind__in=_COUNT).exclude(EMPTIED)
    rows = counted.values_list("kind", "at", "payload")
    for kind, at, payload_text in rows.iterator():
        payload = json.loads(payload_text)
        for key, number in _COUNT[kind](payload):
            totals[key] += number
        if kind == "turn.answered":
            by = "machine" if payload["origin"] in WITHOUT_A_PERSON else "person"
            answered[payload["turn"]] = (by, at)
    for turn, created_at in Turn.objects.filter(pk__in=answered).values_list("pk", "created_at"):
        by, at = answered[str(turn)]
        _observe(totals, "ieim_turn_seconds", by, (at - created_at).total_seconds())
    return end


def _observe(totals: Counter[Key], name: str, value: str, seconds: float) -> None:
    for key, number in _observed(name, value, seconds):
        totals[key] += number


Counted = Iterator[tuple[Key, Any]]


def _observed(name: str, value: str, seconds: float) -> Counted:
    bounds = HISTOGRAMS[name][2]
    index = bisect.bisect_left(bounds, seconds)
    yield (name, value, str(bounds[index]) if index < len(bounds) else "+Inf"), 1
    yield (name, value, "sum"), seconds


def _attempt(payload: Mapping[str, Any]) -> Counted:
    stage = payload["stage"]
    yield ("ieim_model_calls", stage, "passed" if payload["passed"] else "failed"), 1
    for code in payload["codes"]:
        yield ("ieim_findings", code), 1
    for kind in ("prompt", "completion", "cached"):
        yield ("ieim_model_tokens", kind), payload[f"{kind}_tokens"] or 0
    if (took := payload.get("duration_ms")) is not None:
        yield from _observed("ieim_model_call_seconds", stage, took / 1000)


def _unused(payload: Mapping[str, Any]) -> Counted:
    yield ("ieim_model_calls", payload["stage"], "unused"), 1
    yield ("ieim_model_tokens", "unused"), payload["tokens"]


def _unanswered(payload: Mapping[str, Any]) -> Counted:
    yield ("ieim_model_calls", payload["stage"], "unanswered"), 1
    yield ("ieim_model_errors", payload["code"]), 1


def _answered(payload: Mapping[str, Any]) -> Counted:
    outcome = payload["origin"]
    if outcome in WITHOUT_A_PERSON:  # events of before 0.3 say no more than that
        if payload.get("kind") == "outside":
            outcome = OUTSIDE
        elif payload.get("unsaid"):
            outcome = UNSAID
    yield ("ieim_turns", outcome), 1


def _chosen(payload: Mapping[str, Any]) -> Counted:
    outcome = payload["outcome"]
    yield ("ieim_choices", outcome), 1
    if outcome in (ChoiceOutcome.EXPIRED, ChoiceOutcome.REPLACED):
        yield ("ieim_turns", LEFT), 1


def _one(name: str, member: str = "", *, value: str = "") -> Callable[[Mapping[str, Any]], Counted]:
    def one(payload: Mapping[str, Any]) -> Counted:
        label = payload[member] if member else value
        yield ((name, label) if label else (name,)), 1

    return one


_COUNT: Final[Mapping[str, Callable[[Mapping[str, Any]], Counted]]] = {
    "turn.received": _one("ieim_turns_received"),
    "turn.answered": _answered,
    "turn.asking": _one("ieim_turns", value="asking"),
    "turn.needs_review": _one("ieim_turns", value="needs_review"),
    "turn.awaiting_model": _one("ieim_turns", value="awaiting_model"),
    "turn.closed": _one("ieim_turns", value="closed"),
    "turn.chosen": _chosen,
    "stage.attempt": _attempt,
    "stage.unused": _unused,
    "stage.unanswered": _unanswered,
    "stage.fallback": _one("ieim_fallbacks", "stage"),
    "stage.over_budget": _one("ieim_over_budget", "stage"),
    "review.opened": _one("ieim_review_opened", "stage"),
    "review.decided": _one("ieim_review_decided", "action"),
    "mail.sent": _one("ieim_mail", value="sent"),
    "mail.postponed": _one("ieim_mail", value="postponed"),
}
"""The counters that an event adds to, by its kind."""
