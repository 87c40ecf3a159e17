"""The item page's context, and that of the preview: what can be done, and what it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext

from conversations import selectors as conversations
from conversations.chat import reply_views
from conversations.chat.presenters import ReplyView, TurnView
from conversations.models import Reply, ReplyOrigin
from conversations.person import selectors as people
from conversations.states import DONE_STAGE_STATUSES, StageStatus
from conversations.turns import languages, resuming
from ieim.knowledge.notices import selectors as notices
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.findings import Finding
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.topology import ANSWERING, AWAITED, PERSON, REPLY
from review import claims, crisis, deciding, feedback, finding_texts, labels
from review.deciding import Preview, Refused, answers, outdated, permitted, signing
from review.deciding.locking import DECIDE, SUPERVISE
from review.item.decision_form import DecisionForm
from review.item.forms import Desk, Problem
from review.item.outputs import Statement, statements
from review.item.presenters import comparison, danger, item_view, linked
from review.item.selectors import Loaded
from review.labels import agency_name
from review.models import Action, Decision
from review.states import ReviewState

ONCE_MORE = "once-more"
"""What is posted to come to the step that asks once more before an approval in a crisis."""
_ORIGINS: Mapping[str, ReplyOrigin] = {
    Action.APPROVE: ReplyOrigin.MODEL_APPROVED,
    Action.OVERRIDE: ReplyOrigin.STAFF_OVERRIDE,
}


def preview_context(
    loaded: Loaded, decision: DecisionForm, payload: Mapping[str, Any], seen: Preview
) -> dict[str, Any]:
    """Return the context of the page that shows what a decision leads to."""
    action = decision.action or Action.WRITE
    agreed = signing.proposal_of(loaded.item) if action is Action.AGREE else None
    posted = [
        (name, value)
        for name, values in (decision.data or QueryDict()).lists()
        if name not in ("csrfmiddlewaretoken", "again", ONCE_MORE)
        for value in values
    ]
    says: tuple[Statement, ...] = ()
    if "output" in payload:
        contract, turn = payload["stage"], loaded.item.turn
        whole = deciding.complete_output(contract, turn, payload["output"])
        says = statements(contract, whole, decision.desk.release)
    elif agreed is not None:
        says = comparison(loaded, agreed).chosen
        says = tuple(replace(each, heading=each.heading or gettext("Decided")) for each in says)
    changes = None if agreed else outdated.changes_since(loaded.item.turn, seen.reply)
    why_confirm = deciding.why_confirm(loaded.item, action)
    return {
        "item": loaded.item,
        "danger": danger(loaded.item.turn),
        "changes": changes,
        "seen": seen,
        "reply": seen.reply and shown(loaded, seen.reply, agreed.action if agreed else action),
        "turn": _turn(loaded),
        "action": next(c.name for c in decision.choices if c.action == action),
        "says": says,
        "warnings": sentences(seen.warnings, decision),
        "reason": decision.reason,
        "why_confirm": f"{why_confirm} {changes or ''}".strip(),
        "posted": posted,
    }


def waiting(loaded: Loaded, user: User, proposal: Decision | None) -> dict[str, Any] | None:
    """Return the reply that the citizen got, that of a ``proposal``, or the one that is held, as
    the citizen sees or would see it; None where there is none."""
    turn = loaded.item.turn
    if hasattr(turn, "reply"):
        return {
            "title": gettext("What the citizen got"),
            "reply": reply_views.reply_view(turn.reply, turn),
            "turn": conversations.turn_view(turn.pk),
        }
    if proposal is not None:
        title, action, by = gettext("The reply that was decided on"), Action.AGREE, proposal.action
    elif loaded.item.stage == REPLY:
        title, action, by = gettext("The reply that waits"), Action.APPROVE, Action.APPROVE.value
    else:
        return None
    try:
        seen = deciding.preview(item_id=loaded.item.pk, actor=user, action=action, payload={})
    except Refused:
        return None
    if seen.reply is None:
        return None
    return {"title": title, "reply": shown(loaded, seen.reply, by), "turn": _turn(loaded)}


def shown(loaded: Loaded, reply: replies.Reply, action: str) -> ReplyView:
    """Return a reply as the citizen's own page would show it after ``action``."""
    turn = loaded.item.turn
    release = languages.release_of(turn)
    reply = replace(reply, notices=notices.of_reply(reply.sources, timezone.now()))
    stored = Reply(
        turn=turn,
        origin=_ORIGINS.get(action, ReplyOrigin.STAFF).value,
        body=reply.as_dict(),
        marked=resuming.marked(turn.text, reply, release),
    )
    return reply_views.reply_view(stored, turn)


def _turn(loaded: Loaded) -> TurnView:
    """Return the turn as its page will show it: with every step done."""
    view = conversations.turn_view(loaded.item.turn_id)
    return replace(view, steps=tuple(replace(step, status="done") for step in view.steps))


CORRECT = "stage"
"""The name under which an earlier step to correct is posted, or named in the page's address."""


def form(loaded: Loaded, user: User, data: QueryDict | None, *, correct: str = "") -> DecisionForm:
    """Return the forms of what ``user`` may do with the item.

    ``correct`` names an earlier step that is to be corrected in place of the item's own.
    """
    requested = data.get(CORRECT, "") if data is not None else correct
    contract = requested if requested in correctable(loaded) else _default_stage(loaded)
    desk = Desk(contract, loaded.item.turn, loaded.stages)
    in_crisis = bool(crisis.labels(loaded.item.turn))
    chosen = Action.OVERRIDE if correct and contract == correct else None
    if in_crisis and chosen is None:
        chosen = Action.WRITE
    careful = in_crisis or bool(deciding.why_confirm(loaded.item, Action.APPROVE))
    return DecisionForm(desk, data, deciding.may(loaded.item, user), chosen, careful)


def correctable(loaded: Loaded) -> tuple[str, ...]:
    """Return the steps that can be corrected: the item's own, and for an answer those before it."""
    current = loaded.item.stage
    if current == PERSON:
        return ()
    if current not in AWAITED:
        return (current,)
    done = tuple(
        name
        for name, stage in loaded.stages.items()
        if name in ANSWERING and StageStatus(stage.status) in DONE_STAGE_STATUSES
    )
    return done if current == REPLY else (*done, current)


def context(
    loaded: Loaded,
    user: User,
    data: QueryDict | None,
    *,
    problems: Sequence[Problem] = (),
    title: str = "",
    correct: str = "",
) -> dict[str, Any]:
    """Return the page's context; ``data`` is a draft, ``problems`` what was wrong with it."""
    focus, dangers = _focus(loaded, user), danger(loaded.item.turn)
    decision = form(loaded, user, data, correct=correct)
    proposal = signing.proposal_of(loaded.item)
    waits = proposal is not None and signing.waits_for_signatures(loaded.item, proposal)
    signatures = _signatures(loaded, user, waits=waits)
    return {
        "item": loaded.item,
        "danger": dangers,
        "view": item_view(loaded, user, dangers),
        "feedback": feedback.of_turn(loaded.item.turn),
        "focus": focus,
        "panel": focus["panel"],
        "form": decision,
        "correctable": correctable(loaded) if focus["mine"] else (),
        "again": _again(loaded),
        "talked": people.taken_over(loaded.item.turn.session_id),
        "outdated": _outdated(loaded, proposal),
        "undoable": _undoable(loaded, user),
        "signatures": signatures,
        "signs": any(each["may_sign"] for each in signatures),
        "waiting": waiting(loaded, user, proposal),
        "draft": _draft(decision) if data is not None and not focus["mine"] else None,
        "errors": problems,
        "problem_title": title,
        "wrong": {problem.field: problem.message for problem in problems if problem.field},
    }


def _outdated(loaded: Loaded, proposal: Decision | None) -> str:
    """Return that an open item is on an older release, and what has changed of the reply that waits
    since; empty for most."""
    turn = loaded.item.turn
    sentence = outdated.older_release(turn)
    if not sentence or loaded.item.state == ReviewState.DECIDED.value:
        return ""
    reply = answers.follow(turn).reply
    if proposal is not None and proposal.action == Action.WRITE and proposal.output is not None:
        reply = replies.Reply.from_dict(proposal.output)
    return f"{sentence} {outdated.changes_since(turn, reply) or ''}".strip()


def refusal(refused: Refused, decision: DecisionForm) -> list[Problem]:
    """Return why a decision is refused, the gate's findings at their fields."""
    field = decision.form(decision.action).field_of("") if decision.action else ""
    return sentences(refused.findings, decision) or [Problem(refused.message, field)]


def changed(loaded: Loaded, viewer: int | None) -> str:
    """Return who changed the item since the page of the person ``viewer`` was made."""
    records = list(loaded.item.decisions.all())
    if records:
        done = gettext(labels.ACTIONS_DONE[records[-1].action]).lower()
        if records[-1].actor_id == viewer:
            message = gettext("You have decided this already ({done}). Your draft is kept below.")
            return message.format(done=done)
        message = gettext("{name} was faster ({done}). Your draft is kept below.")
        return message.format(name=records[-1].actor.display_name, done=done)
    if loaded.item.claimed_by is not None:
        message = gettext("{name} has taken this item. Your draft is kept below.")
        return message.format(name=loaded.item.claimed_by.display_name)
    return gettext(
        "This item has changed since you opened it. Look at it again; your draft is kept."
    )


def stored_message(loaded: Loaded, action: Action) -> str:
    """Return the sentence for the next page that says that the decision is stored."""
    message = gettext("Your decision on {reference} is stored: {done}.")
    done = gettext(labels.ACTIONS_DONE[action]).lower()
    return message.format(reference=loaded.item.turn.session.reference, done=done)


def _default_stage(loaded: Loaded) -> str:
    """Return the step that is corrected where the request names none."""
    return loaded.item.stage if loaded.item.stage != REPLY else (correctable(loaded) or ("",))[-1]


def sentences(findings: Iterable[Finding], decision: DecisionForm) -> list[Problem]:
    """Return findings at the fields that they concern: of a refusal, or what to look at first."""
    action = decision.action
    field_of = decision.form(action).field_of if action else str
    return [
        Problem(f"{finding_texts.sentence(f.code)} {f.message}", field_of(f.path), f.code.value)
        for f in findings
    ]


def _focus(loaded: Loaded, user: User) -> dict[str, Any]:
    """Return the item's state for the user who opens it.

    ``panel`` is the template of what they can do; ``may_take_over`` is for supervisors.
    ``opinion_on`` is who decided, where only the opinion of a second person is missing, and
    ``why_not`` why this person's cannot be it; both are empty otherwise.
    """
    item = loaded.item
    holder = item.holder(timezone.now())
    mine = holder == user
    if item.state == ReviewState.DECIDED.value:
        panel = "decided"
    elif mine:
        panel = "form"
    else:
        panel = "taken" if holder else "free"
    proposal = permitted.opinion_wanted(item)
    return {
        "panel": f"review/deciding/{panel}.html",
        "mine": mine,
        "may_take_over": panel == "taken" and user.has_perm(SUPERVISE),
        "opinion_on": proposal.actor.display_name if proposal is not None else "",
        "why_not": claims.opinion_problem(item, user),
    }


def _again(loaded: Loaded) -> dict[str, Any] | None:
    """Return the open item that a decided item's question waits in now, None where none does."""
    item = loaded.item
    if item.decided_at is None or item.stage not in AWAITED:
        return None
    for each in loaded.others:
        later = each.turn_id == item.turn_id and each.opened_at >= item.decided_at
        if later and each.stage in AWAITED and each.decided_at is None:
            return linked(each, item)
    return None


def _undoable(loaded: Loaded, user: User) -> list[UUID]:
    """Return the records that this person can take back."""
    now = timezone.now()
    found = permitted.undoable(loaded.item)
    return [record.pk for record in found if not permitted.undo_problem(record, user, now)]


def _signatures(loaded: Loaded, user: User, *, waits: bool) -> list[dict[str, Any]]:
    """Return the signatures that a reply of several agencies needs; ``by`` is empty before one is
    given. None for most items."""
    scope = agencies_of(user)
    signed = {each.agency: each for each in loaded.item.sign_offs.all()}
    release = languages.release_of(loaded.item.turn)
    may_sign = waits and user.has_perm(DECIDE)
    return [
        {
            "agency": agency,
            "name": agency_name(release, agency),
            "by": signed[agency].by.display_name if agency in signed else "",
            "reason": signed[agency].reason if agency in signed else "",
            "may_sign": may_sign and agency not in signed and (scope is None or agency in scope),
        }
        for agency in dict.fromkeys([*deciding.signing_agencies(loaded.item), *signed])
    ]


def _draft(decision: DecisionForm) -> list[tuple[str, str]]:
    """Return what was typed, so that nothing is lost where it can no longer be sent."""
    data = decision.data or QueryDict()
    return [
        (gettext(labels.TYPED[part]), value)
        for name, values in data.lists()
        if (part := name.rpartition("-")[2]) in labels.TYPED
        for value in values
        if value.strip()
    ]
