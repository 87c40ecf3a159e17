"""People at their desks: staff, turns that stopped, and a model that says what a test wants."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from html import unescape
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import F
from django.utils import timezone

from conversations.models import Reply, Turn
from conversations.states import TurnState
from conversations.turns import choosing, running, services, triage
from conversations.turns.models import Choice
from ieim.knowledge import selectors as knowledge
from ieim.llm.offline import OfflineModel
from ieim.people.models import EVERY_AGENCY, AgencyScope, User
from ieim.pipeline.ports import Model, ModelAnswer, ModelRequest
from review import deciding
from review.models import Action, Decision, ReviewItem
from tests.review.people import vouched

Says = str | Callable[[dict[str, Any]], None]
"""A raw answer, or what is changed in the engine's."""
BABY = "We had a baby. How do we register the birth and claim child benefit?"
GREETING = (
    "Hello. You can ask here about the public services of Tarrow, such as documents, permits, "
    "payments and benefits. What do you need?"
)
"""What the demo's own text for a greeting says."""
REASON = "I looked it up."
ALL = ("view", "decide", "supervise", "second")


class Scripted:
    """Answers like the offline engine, but for what is scripted by contract, in order."""

    name = "scripted"
    reads = False

    def __init__(self, script: Mapping[str, Sequence[Says]] | None = None) -> None:
        self.script = {name: list(answers) for name, answers in (script or {}).items()}
        self.requested: list[str] = []

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Answer a request."""
        self.requested.append(request.contract)
        raw = OfflineModel().complete(request, deadline=deadline).raw
        waiting = self.script.get(request.contract)
        if waiting:
            result = waiting.pop(0)
            if isinstance(result, str):
                raw = result
            else:
                answer = json.loads(raw)
                result(answer)
                raw = json.dumps(answer)
        return ModelAnswer(raw=raw, finish_reason="stop", model=self.name)


def words(html: str) -> str:
    """Return the words of a page, without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


BAD = ("no json", "```{}```")
FACTS = frozenset({"extract", "identity_assist"})


def unsure(answer: dict[str, Any]) -> None:
    """Lower a service's score below the minimum: a person may waive that."""
    answer["serviceSelection"]["score"] = 0.41
    answer["telemetry"]["notes"] = "scored again"


def person(name: str, *permissions: str, agencies: Sequence[str] = (EVERY_AGENCY,)) -> User:
    """Return a member of staff with rights on review items, for some agencies."""
    results = [f"{permission}_reviewitem" for permission in permissions or ("view", "decide")]
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=results))
    for agency in agencies:
        AgencyScope.objects.create(user=user, agency=agency)
    return vouched(User.objects.get(pk=user.pk))


def run(turn: Turn, model: Scripted | None = None) -> Turn:
    """Run a turn as a worker would, if there is anything to run.

    A citizen who is asked to choose lets the time pass, so that a person has it.
    """
    running.run_turn(turn_id=turn.pk, model=model or Scripted())
    if Turn.objects.get(pk=turn.pk).state == TurnState.ASKING.value:
        Choice.objects.filter(turn=turn.pk).update(until=timezone.now())
        choosing.expire(now=timezone.now())
    return Turn.objects.select_related("session").get(pk=turn.pk)


def ask(text: str, script: Mapping[str, Sequence[Says]], *, secret: str | None = None) -> Turn:
    """Send a message and run its turn until it ends or stops.

    What the script says of facts and keys is asked though nothing stopped.
    """
    secret = secret or services.new_secret()
    turn = services.receive(session=secret, text=text, personal_data="send", enqueue=False)[0]
    model = Scripted(script)
    turn = run(turn, model)
    if FACTS.intersection(script):
        look_for_facts(turn, model)
    return turn


def look_for_facts(turn: Turn, model: Model) -> None:
    """Run what is missing of a turn's triage, as if a person were about to read it."""
    triage.request(turn_ids=[turn.pk])
    running.run_triage(turn_id=turn.pk, model=model)


def the_item(turn: Turn, stage: str | None = None) -> ReviewItem:
    """Return the one undecided item of a turn (of a stage)."""
    items = ReviewItem.objects.filter(turn=turn).exclude(state="decided")
    return items.get(stage=stage) if stage else items.get()


def take(item: ReviewItem, user: User) -> ReviewItem:
    """Claim an item."""
    ReviewItem.objects.filter(pk=item.pk).update(
        state="claimed",
        claimed_by=user,
        claimed_until=timezone.now() + timedelta(minutes=15),
        version=F("version") + 1,
    )
    return ReviewItem.objects.select_related("turn").get(pk=item.pk)


def decide(
    item: ReviewItem, user: User, action: Action, reason: str = REASON, **payload: Any
) -> Decision:
    """Decide an item as it stands."""
    return deciding.decide(
        item_id=item.pk,
        actor=user,
        version=ReviewItem.objects.get(pk=item.pk).version,
        action=action,
        reason=reason,
        payload=payload,
    )


def taken_and_decided(item: ReviewItem, user: User, action: Action, **payload: Any) -> Decision:
    """Claim an item and decide it."""
    return decide(take(item, user), user, action, **payload)


def agency_output(*ids: str) -> dict[str, Any]:
    """What a person says of the agencies: these."""
    release, names = knowledge.release(1), ("name", "path", "description")
    return {
        "judgements": {
            "agencyDetected": [*ids],
            "agencyInfo": [
                {"agencyId": id_} | {name: getattr(release.agencies[id_], name) for name in names}
                for id_ in ids
            ],
            "agencyCount": len(ids),
            "complexity": "low" if len(ids) == 1 else "high",
        }
    }


def unsigned_item(turn: Turn) -> ReviewItem:
    """The item of a reply that is ready and that somebody has to sign first."""
    turn = run(turn)
    item = the_item(turn)
    assert (turn.state, item.stage, item.reasons) == ("needs_review", "reply", ["policy.unsigned"])
    assert not Reply.objects.filter(turn=turn).exists()
    return item
