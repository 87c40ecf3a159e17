"""Events in plain words: a sentence for each kind, and phrases for members of the payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from django.utils.translation import gettext, gettext_noop

from ieim.studio.labels import origin_label, stage_label
from review import finding_texts, labels

KINDS: Mapping[str, str] = {
    "administration.changed": gettext_noop("The settings were changed"),
    "audit.checkpoint": gettext_noop("A checkpoint of the record was taken"),
    "audit.continued": gettext_noop("What belongs to an earlier event, continued"),
    "audit.exported": gettext_noop("Events were downloaded"),
    "audit.restated": gettext_noop("Messages of an older version are vouched for in today’s form"),
    "audit.sealed": gettext_noop("The record was sealed"),
    "audit.verified": gettext_noop("The record was verified"),
    "audit.vouched_from": gettext_noop("What was there before is vouched for from here on"),
    "correction.confirmed": gettext_noop("A correction of answers was confirmed"),
    "directive.added": gettext_noop("A notice was added"),
    "directive.ended": gettext_noop("A notice was ended"),
    "gap.handled": gettext_noop("Something was done about a group of questions"),
    "gaps.listed": gettext_noop("Questions that ended badly were read"),
    "drafting.accepted": gettext_noop("What a model drafted was taken into the draft"),
    "drafting.failed": gettext_noop("A model’s draft did not pass, or could not be had"),
    "drafting.finished": gettext_noop("A model drafted texts"),
    "golden.failed": gettext_noop("Asking the golden questions failed"),
    "golden.finished": gettext_noop("The golden questions were asked"),
    "golden.kept": gettext_noop("A golden question was kept"),
    "golden.listed": gettext_noop("Golden questions were read"),
    "golden.removed": gettext_noop("A golden question was removed"),
    "golden.started": gettext_noop("Asking the golden questions began"),
    "knowledge.changed": gettext_noop("An entry of the draft was changed"),
    "knowledge.danger_trained": gettext_noop("What danger looks like was learnt from examples"),
    "knowledge.imported": gettext_noop("Knowledge was imported"),
    "knowledge.merged": gettext_noop("The draft was brought up to date"),
    "knowledge.not_in_time": gettext_noop("A change set could not be published or ended in time"),
    "knowledge.proposal_refused": gettext_noop("A proposal was turned down"),
    "knowledge.proposal_withdrawn": gettext_noop("A proposal was withdrawn"),
    "knowledge.proposed": gettext_noop("Knowledge was proposed for publication"),
    "knowledge.published": gettext_noop("A release was published"),
    "knowledge.review_planned": gettext_noop("The owner or review date of an entry was changed"),
    "knowledge.taken": gettext_noop("Entries were taken into another change set"),
    "knowledge.scheduled": gettext_noop("A change set was agreed to, to be published at its time"),
    "knowledge.vectors_made": gettext_noop("Vectors for the search were made"),
    "mail.asked": gettext_noop("The citizen asked to be told by e-mail"),
    "mail.confirmed": gettext_noop("The citizen confirmed the e-mail address"),
    "mail.due": gettext_noop("The citizen is to be told by e-mail"),
    "mail.ended": gettext_noop("The request to be told by e-mail ended"),
    "mail.postponed": gettext_noop("An e-mail could not be sent yet"),
    "mail.sent": gettext_noop("The citizen was told by e-mail"),
    "people.factor_added": gettext_noop("A second factor was added"),
    "people.factor_failed": gettext_noop("A second factor was wrong"),
    "people.factor_removed": gettext_noop("A second factor was removed"),
    "people.logged_in": gettext_noop("Somebody logged in"),
    "people.logged_out": gettext_noop("Somebody logged out"),
    "people.login_failed": gettext_noop("A password was wrong"),
    "people.login_refused": gettext_noop("A login was refused"),
    "people.password_link_sent": gettext_noop("A link for a new password was sent"),
    "people.password_link_shown": gettext_noop("A link for a new password was shown once"),
    "people.password_rehashed": gettext_noop("A password was hashed anew at a login"),
    "people.reset_asked": gettext_noop("A new password was asked for"),
    "people.rights_asked": gettext_noop("Rights that need a second administrator were asked for"),
    "people.rights_given_alone": gettext_noop("Rights were given without a second administrator"),
    "people.rights_refused": gettext_noop("Rights were refused"),
    "people.role_added": gettext_noop("A role was added"),
    "people.role_changed": gettext_noop("A role was changed"),
    "people.role_deleted": gettext_noop("A role was deleted"),
    "people.session_ended": gettext_noop("A session of staff was ended"),
    "people.token_made": gettext_noop("A token for a program was made"),
    "people.token_revoked": gettext_noop("A token was revoked"),
    "people.token_used": gettext_noop("A token was used"),
    "people.user_added": gettext_noop("An account was added"),
    "people.user_changed": gettext_noop("An account or its rights were changed"),
    "people.user_deleted": gettext_noop("An account was deleted"),
    "people.way_in_changed": gettext_noop("A second factor of somebody was stored or used up"),
    "person.asked": gettext_noop("The citizen asked for a person"),
    "person.ended": gettext_noop("The request for a person ended"),
    "quality.added": gettext_noop("The answer was put in the sample to be read again"),
    "quality.drawn": gettext_noop("Answers were drawn to be read again"),
    "quality.listed": gettext_noop("Somebody read what was said of their own answers"),
    "quality.read": gettext_noop("An answer of the sample was opened"),
    "quality.scored": gettext_noop("An answer was read again and scored"),
    "reply.feedback": gettext_noop("The citizen said something of the answer"),
    "reply.rated": gettext_noop("The citizen said whether the answer was useful"),
    "retention.applied": gettext_noop("What was over its time was erased"),
    "review.absence": gettext_noop("Until when a colleague is absent was changed"),
    "review.assigned": gettext_noop("An item was given to somebody"),
    "review.batch_started": gettext_noop("Several items were decided together"),
    "review.batch_undone": gettext_noop("A decision on several items was taken back"),
    "review.claimed": gettext_noop("Somebody claimed the item"),
    "review.decided": gettext_noop("A person decided"),
    "review.exported": gettext_noop("Decided items were written to a file"),
    "review.feedback": gettext_noop("An item was opened because of the citizen’s feedback"),
    "review.feedback_listed": gettext_noop("Citizens’ feedback was read"),
    "review.listed": gettext_noop("Rows of the queue were shown"),
    "review.noted": gettext_noop("Somebody wrote a note for colleagues"),
    "review.opened": gettext_noop("An item for a person was opened"),
    "review.read": gettext_noop("Somebody read the item"),
    "review.released": gettext_noop("The claim was given back"),
    "review.reply_deleted": gettext_noop("A saved reply was deleted"),
    "review.reply_saved": gettext_noop("A saved reply was stored"),
    "review.replaced": gettext_noop("The item was replaced by another"),
    "review.retried": gettext_noop("The model was asked again, once an outage had ended"),
    "review.signatures_withdrawn": gettext_noop("Signatures were withdrawn"),
    "review.signed": gettext_noop("An agency signed its part"),
    "review.signed_by_author": gettext_noop("An agency’s part was signed by who wrote it"),
    "review.snoozed": gettext_noop("The item was put away until a time"),
    "review.taken_over": gettext_noop("Somebody took the item over from a colleague"),
    "review.view_shared": gettext_noop("Who sees a saved view of the queue was changed"),
    "review.translated": gettext_noop("A model translated the message for a reader"),
    "review.translation_failed": gettext_noop("A model’s translation did not pass the checks"),
    "session.left": gettext_noop("What stays of the conversation was noted"),
    "session.erased": gettext_noop("The conversation was erased"),
    "stage.asked_again": gettext_noop("A step was asked anew"),
    "stage.attempt": gettext_noop("The model was asked"),
    "stage.fallback": gettext_noop(
        "A step failed in its wording: the administration’s words took its place"
    ),
    "stage.over_budget": gettext_noop("A step stopped: no budget was left"),
    "stage.replaced": gettext_noop("A person’s answer took the place of a step’s"),
    "stage.unanswered": gettext_noop("The model gave no answer"),
    "stage.unused": gettext_noop("An answer of the model was not needed"),
    "takeover.begun": gettext_noop("A person took the conversation over"),
    "takeover.ended": gettext_noop("The assistant answers again"),
    "takeover.said": gettext_noop("A person wrote to the citizen"),
    "triage.disagreement": gettext_noop("Rules and model disagreed on labels: the rules won"),
    "triage.left_out": gettext_noop(
        "A model left out a risk that it had flagged before: it counts"
    ),
    "turn.answered": gettext_noop("The citizen got an answer"),
    "turn.asking": gettext_noop("The citizen was asked back"),
    "turn.awaiting_model": gettext_noop("The message waits for the model"),
    "turn.chosen": gettext_noop("Asking back ended"),
    "turn.closed": gettext_noop("The message was closed without an answer"),
    "turn.corrected": gettext_noop("The citizen was shown a correction"),
    "turn.directed": gettext_noop("The model was given an instruction for this question"),
    "turn.flagged": gettext_noop("Signs of danger or risk were noted"),
    "turn.needs_review": gettext_noop("The message stopped: a person has to look"),
    "turn.received": gettext_noop("The citizen sent a message"),
    "turn.release_renewed": gettext_noop("A newer release was asked for the message"),
    "turn.reopened": gettext_noop("The message was opened again"),
    "turn.said_safe": gettext_noop("The citizen said that they are safe"),
    "turn.situation": gettext_noop("The answer came with the checklist of a situation"),
    "webpages.left": gettext_noop("Nothing was taken of a web page"),
    "webpages.restored": gettext_noop("A web page that was left was taken back"),
    "webpages.taken": gettext_noop("What a web page says was taken into the draft"),
    "webhook.given_up": gettext_noop("Telling a webhook was given up"),
    "webhook.made": gettext_noop("A webhook was made"),
    "webhook.removed": gettext_noop("A webhook was removed"),
    "webhook.rotated": gettext_noop("A webhook got a new secret"),
    "webhook.sent_again": gettext_noop("A webhook is told again"),
    "webhook.started": gettext_noop("A webhook was started"),
    "webhook.stopped": gettext_noop("A webhook was stopped"),
    "webpages.changed": gettext_noop("A web page no longer says what an entry rests on"),
    "webpages.drafted": gettext_noop("An entry was drafted from a web page"),
    "webpages.failed": gettext_noop("No entry could be drafted from a web page"),
    "webpages.paused": gettext_noop("Reading of web pages was paused"),
    "webpages.read": gettext_noop("A web page was read"),
    "webpages.resumed": gettext_noop("Reading of web pages went on"),
    "webpages.started": gettext_noop("Reading of web pages began"),
}


def sentence(kind: str) -> str:
    """Return the sentence for a kind of event, or the kind where it has none."""
    return gettext(KINDS[kind]) if kind in KINDS else kind


def details(payload: Mapping[str, Any]) -> list[str]:
    """Return the members of a payload that have a name in plain words, as short phrases."""
    phrases: list[str] = []
    for key, phrase in _PHRASES.items():
        if key in payload:
            # A planted event may hold anything; the event's JSON shows it all the same.
            with suppress(LookupError, TypeError, ValueError, AttributeError):
                phrases.append(phrase(payload[key], payload))
    return [phrase for phrase in phrases if phrase]


def _action(action: Any, _payload: Mapping[str, Any]) -> str:
    code = str(action)
    return gettext(labels.ACTIONS_DONE[code]) if code in labels.ACTIONS_DONE else code


def _origin(origin: Any, _payload: Mapping[str, Any]) -> str:
    try:
        return origin_label(str(origin))
    except KeyError:
        return str(origin)


def _passed(passed: Any, payload: Mapping[str, Any]) -> str:
    message = gettext("passed every check") if passed else gettext("did not pass")
    return gettext("attempt {number}: {message}").format(
        number=payload.get("attempt", "?"), message=message
    )


def _codes(codes: Any, _payload: Mapping[str, Any]) -> str:
    return finding_texts.summary([str(code) for code in codes]) if codes else ""


def _count(message: str) -> Callable[[Any, Mapping[str, Any]], str]:
    return lambda items, _payload: (
        gettext(message).format(number=len(items)) if isinstance(items, list) else ""
    )


_PHRASES: Mapping[str, Callable[[Any, Mapping[str, Any]], str]] = {
    "stage": lambda stage, _payload: stage_label(str(stage)),
    "action": _action,
    "origin": _origin,
    "passed": _passed,
    "codes": _codes,
    "ok": lambda ok, _payload: gettext("It holds") if ok else gettext("It does not hold"),
    **dict.fromkeys(
        ("agency", "username", "role", "name", "section"),
        lambda text, _payload: text if isinstance(text, str) else "",
    ),
    "items": _count(gettext_noop("Items: {number}")),
    "turns": _count(gettext_noop("Messages: {number}")),
    "questions": _count(gettext_noop("Questions: {number}")),
}
"""The members of a payload that are shown beside the sentence."""
