"""Asking ahead: the next stages are asked beside the present one, for its likeliest result.

What comes of it is used only where that was the result: where the request that the stage then makes
is the same to the byte. So an answer is never one to another question, and no decision depends on
whether it was asked ahead. What was asked in vain is stored with its tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from ieim.pipeline.budget import Count
from ieim.pipeline.choosing import agency_output
from ieim.pipeline.ports import ModelRequest
from ieim.pipeline.stages import agency_detect, category_select, judgement
from ieim.pipeline.stages.base import Context, Inputs
from ieim.pipeline.tasks import Strand


@dataclass(frozen=True, slots=True)
class Call:
    """A call under way: ``pending`` is its answer. ``started`` is in the runner's seconds."""

    request: ModelRequest
    count: Count
    started: float
    pending: Future[Any]

    @property
    def tokens(self) -> int:
        """The most that it can cost."""
        return self.count.input + self.count.output_limit


@dataclass(slots=True)
class Calls:
    """The calls of one run: ``ahead`` those whose stage has not come yet, ``now`` the others.

    ``triage`` is what goes on beside the flow, by contract.
    """

    ahead: dict[str, Call] = field(default_factory=dict)
    now: dict[str, Call] = field(default_factory=dict)
    triage: dict[str, Strand[Any]] = field(default_factory=dict)

    def take(self, request: ModelRequest) -> Call | None:
        """Return the call that was made ahead with exactly this request."""
        call = self.ahead.get(request.contract)
        if call is None or call.request != request:
            return None
        return self.ahead.pop(request.contract)

    @property
    def pending(self) -> tuple[Future[Any], ...]:
        """What is under way, but for what is asked ahead: nothing waits for that."""
        return tuple(call.pending for call in self.now.values())

    @property
    def reserved(self) -> int:
        """The tokens that calls under way may still cost."""
        return sum(call.tokens for call in (*self.now.values(), *self.ahead.values()))


def likely(inputs: Inputs) -> bool:
    """Whether a message is likelier an inquiry than not: by what it is like, or, where words alone
    rank, by whether any service shares one with it."""
    asked = inputs.shortlist.asked(inputs.text, in_a_talk=bool(inputs.history))
    if asked is not None:
        return asked.like > LIKELY
    found = inputs.shortlist.services(inputs.query, agencies=None, limit=1)
    return any(each.score > 0 for each in found)


LIKELY = 0.0
"""What an inquiry is like is above it, what nobody asks of an administration below."""


def predicted(stage_id: str, inputs: Inputs) -> Iterator[tuple[str, Context]]:
    """Yield the stages that most likely follow ``stage_id``, each with the context in which it
    would be asked: one agency, the best of the shortlist, with the low branch.

    What follows category_select_v1 reads its scores, which nobody can foretell: nothing is asked
    ahead of it.
    """
    context = inputs.context
    if stage_id == judgement.STAGE.id:
        if not likely(inputs):
            return
        inquiry = judgement.STAGE.state_slice({"judgements": {"inquiry": True}})
        context = replace(context, cached_state={**context.cached_state, **inquiry})
        yield agency_detect.STAGE.id, context
    elif stage_id != agency_detect.STAGE.id:
        return
    best = inputs.shortlist.agencies(inputs.query, limit=inputs.limits["agencies"])[:1]
    for each in best:
        found = agency_detect.STAGE.state_slice(agency_output(each.item))
        # The agency's answer will have an id of its own; only how many there are counts.
        used = context.used_response_ids | {agency_detect.STAGE.id}
        state = {**context.cached_state, **found}
        context = replace(context, cached_state=state, used_response_ids=used)
        yield category_select.STAGE.id, context
