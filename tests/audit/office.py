"""A small administration's whole record, made by the real services, to tamper with.

22 questions that one person answered and a second one agreed to, six that the pipeline answered
over two releases with ratings and a correction, stages that a person approved, dismissed or asked
again, an answer asked again as something else, a reply that two agencies signed, an erased
conversation, one that a person took over, one whose citizen wanted to be told by e-mail, and the
settings of a city.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings

from conversations.mail import services as mail
from conversations.models import MailRequest, Turn
from conversations.reactions import rate
from conversations.turns import erasing, executor, services
from conversations.turns.services import secret_digest
from ieim.administration.demo import furnish
from ieim.knowledge.vectors import stored_vectors
from ieim.people.models import EVERY_AGENCY, AgencyScope, User
from ieim.people.roles import Role
from ieim.people.services import changing
from ieim.people.tokens import services as tokens
from ieim.pipeline.tasks import InlineExecutor
from ieim.search.embedders import CheckedEmbedder
from ieim.studio.drafts import publishing
from ieim.studio.drafts import services as knowledge
from ieim.studio.recall import services as sending
from review import deciding, talking
from review.colleagues.services import add_note
from review.models import Action
from tests.conversations.person.asking import item_of, taken_over, wants
from tests.embedders import Ideas
from tests.fixtures import VISA, demo_bundle
from tests.review import desk
from tests.review.desk import BABY, BAD, REASON, taken_and_decided, the_item
from tests.review.people import person

HELD = 22
ANSWERED = 6


def build() -> None:
    """Make all of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "ThreadExecutor", lambda _lease: InlineExecutor())
        knowledge.import_bundle(bundle=demo_bundle(), by=None)
        publishing.publish(note="first", by=None)
        eva, zoe = desk.person("eva", *desk.ALL), desk.person("zoe", *desk.ALL)
        turns = [desk.ask(VISA, {}) for _ in range(ANSWERED - 1)]
        _publish_again()
        turns.append(desk.ask(VISA, {}))
        _rated_and_corrected(turns)
        for number in range(HELD):
            turn = desk.ask(f"I want to kill myself. It is day {number}.", {"judgement_v1": BAD})
            item = the_item(turn)
            taken_and_decided(item, eva, Action.WRITE, text=f"Call us, {number}.", sources=[])
            taken_and_decided(item, zoe, Action.AGREE)
        _stopped(eva)
        _replaced()
        _signed()
        _talked(eva)
        _told_by_mail(patch)
        _erased(eva)
        _staff()
        stored_vectors(CheckedEmbedder(Ideas(), clock=monotonic), ["passport", "refund", "visa"])
        furnish()


def _publish_again() -> None:
    bundle = demo_bundle()
    first, *others = bundle.services
    changed = (replace(first, fees="45 EUR"), *others)
    knowledge.import_bundle(bundle=replace(bundle, services=changed), by=None)
    publishing.publish(note="another fee", by=None)


def _rated_and_corrected(turns: list[Turn]) -> None:
    for useful, turn in enumerate(turns[:2]):
        rate(session_id=turn.session_id, turn_id=turn.pk, useful=not useful)
        rate(
            session_id=turn.session_id, turn_id=turn.pk, useful=bool(useful), text="It is not clear"
        )
    source = turns[0].reply.body["sources"][0]
    service = {"agency": source["agency_id"], "service": source["service_key"]}
    notice = sending.confirm(**service, text="The fee is 45 euros.", by=desk.person("eve"))
    sending.deliver(notice_id=notice.pk)


def _stopped(eva: User) -> None:
    """Correct a stage, ask one again, and correct what triage read."""
    turn = desk.ask(VISA, {"service_select_v1": [desk.unsure, desk.unsure]})
    taken_and_decided(the_item(turn), eva, Action.APPROVE)
    desk.run(turn)
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    taken_and_decided(the_item(turn), eva, Action.RETRY)
    desk.run(turn)
    turn = desk.ask(VISA, {"classify": [_misquote, _misquote]})
    taken_and_decided(the_item(turn, "classify"), eva, Action.DISMISS)
    turn = desk.ask(VISA, {"judgement_v1": BAD})
    dismissed = taken_and_decided(the_item(turn, "judgement_v1"), eva, Action.DISMISS)
    deciding.undo(decision_id=dismissed.pk, actor=eva, reason=REASON)
    add_note(item_id=dismissed.item_id, actor=eva, text="They call again.")


def _misquote(answer: dict[str, Any]) -> None:
    answer["intents"][0]["evidence_snippets"] = ["extend her tourist visa"]


def _replaced() -> None:
    """Ask an answer that goes on with the talk again, as something else."""
    desk.ask(VISA, {}, secret="t")
    turn = desk.ask("and how much does it cost?", {}, secret="t")
    again, _ = services.ask_again(session_id=turn.session_id, turn_id=turn.pk, enqueue=False)
    desk.run(again)


def _signed() -> None:
    """Let two agencies sign, one of them twice, because the first text was withdrawn."""
    stage = "multi_agency_service_answer_v1"
    turn = desk.ask(BABY, {stage: BAD})
    item = the_item(turn, stage)
    mine, other = deciding.signing_agencies(item)
    ada, ben = desk.person("ada", agencies=[mine]), desk.person("ben", agencies=[other])
    first = taken_and_decided(item, ada, Action.WRITE, text="Come on Monday.", sources=[])
    deciding.undo(decision_id=first.pk, actor=ada, reason=REASON)
    taken_and_decided(item, ada, Action.WRITE, text="Come on Tuesday.", sources=[])
    version = the_item(turn, stage).version
    deciding.sign(item_id=item.pk, actor=ben, version=version, agency=other, reason=REASON)


def _talked(eva: User) -> None:
    """Let somebody ask for a person, who comes, writes and leaves again."""
    request = wants("q")
    taken_over(request, eva)
    item = item_of(request)
    talking.say(item_id=item.pk, actor=eva, text="Which papers do you mean?")
    desk.ask("My school papers.", {}, secret="q")
    talking.hand_back(item_id=item.pk, actor=eva)


def _told_by_mail(patch: pytest.MonkeyPatch) -> None:
    """Let somebody ask to be told by e-mail, confirm the address and stop it again."""
    patch.setattr(settings, "IEIM_MAIL", {**settings.IEIM_MAIL, "HOST": "mail.example.org"})
    turn = desk.ask(VISA, {"judgement_v1": BAD})
    result = mail.ask(session=turn.session, turn_id=turn.pk, address="ana@example.org", origin="")
    MailRequest.objects.filter(pk=result.pk).update(confirm_sha256=secret_digest("mail"))
    mail.confirm(secret="mail")
    mail.stop(secret="mail")


def _staff() -> None:
    """Roles, two administrators, a token and a second factor."""
    root, _, idle = (
        person(name, role, "taxes")
        for name, role in (
            ("root", Role.ADMINISTRATOR),
            ("bea", Role.ADMINISTRATOR),
            ("idle", Role.CASEWORKER),
        )
    )
    editor, _ = person("ed", Role.EDITOR, "taxes"), person("gone", Role.CASEWORKER, "taxes")
    with changing(idle.pk, by=root):
        AgencyScope.objects.create(user=idle, agency=EVERY_AGENCY)
    tokens.make(by=editor, name="feed", scopes=["knowledge:read"], agencies=["taxes"], days=9)
    Authenticator.objects.create(user=editor, type=Authenticator.Type.TOTP, data={"secret": "x"})


def _erased(eva: User) -> None:
    turn = desk.ask("I want to kill myself. I am Wilhelmina.", {}, secret="w")
    item = the_item(turn)
    taken_and_decided(item, eva, Action.WRITE, text="Call us, Wilhelmina.", sources=[])
    desk.ask(VISA, {}, secret="w")
    erasing.erase_session(session_id=turn.session_id)
