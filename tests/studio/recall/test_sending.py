"""Corrections: once to each answer, in batches, wherever the citizen looks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from celery import current_app
from django.db import IntegrityError, transaction
from django.test import Client

from conversations import notify, selectors
from conversations.models import Citation, Correction, CorrectionNotice, Turn
from conversations.turns import erasing, moves, services
from ieim.audit.models import AppendOnlyError, AuditEvent
from ieim.people.models import User
from ieim.studio import tasks
from ieim.studio.recall import services as sending
from ieim.studio.recall.services import Refused, confirm, deliver
from tests.audit.owner import check_all
from tests.fixtures import Ask
from tests.studio.recall import recalling
from tests.studio.recall.recalling import IMMIGRATION, WRONG, correct, key_of, publish_fee, texts_of

editor = recalling.editor
OnCommit = Callable[..., Any]


def test_each_answer_has_it_and_each_chain_tells_of_it(ask: Ask, editor: User) -> None:
    turns = [ask(), ask()]
    notice = correct(turns[0], editor)
    assert [texts_of(turn) for turn in turns] == [[WRONG], [WRONG]]
    assert (notice.total, notice.sent, notice.repeated, notice.gone) == (2, 2, 0, 0)
    (audited,) = AuditEvent.objects.filter(kind="correction.confirmed")
    assert json.loads(audited.payload)["answers"] == 2
    assert audited.actor == "staff:eve"
    chained = AuditEvent.objects.filter(kind="turn.corrected")
    assert {event.chain for event in chained} == {turn.session_id for turn in turns}
    assert all(WRONG not in event.payload for event in AuditEvent.objects.all())
    assert all(report.ok for report in check_all())


def test_only_one_version_is_corrected(ask: Ask, editor: User) -> None:
    old = [ask(), ask()]
    key = key_of(old[0])
    publish_fee(key, "45 euros")
    new = ask()
    version = Citation.objects.get(reply__turn=old[0]).service_sha256
    notice = confirm(agency=IMMIGRATION, service=key, version=version, text=WRONG, by=editor)
    deliver(notice_id=notice.pk)
    assert [texts_of(turn) for turn in (*old, new)] == [[WRONG], [WRONG], []]


def test_an_earlier_notice_for_some_turns_goes_to_no_others(ask: Ask, editor: User) -> None:
    turn, other = ask(), ask()
    notice = confirm(agency=IMMIGRATION, service=key_of(turn), text=WRONG, by=editor)
    CorrectionNotice.objects.update(turns=[str(turn.pk)])
    deliver(notice_id=notice.pk)
    assert [texts_of(turn), texts_of(other)] == [[WRONG], []]


def test_the_same_words_come_once(ask: Ask, editor: User) -> None:
    turn = ask()
    first = correct(turn, editor)
    later = ask()
    again = correct(turn, editor, f"  {WRONG} \n")
    assert (again.total, again.sent, again.repeated) == (2, 1, 1)
    assert [texts_of(entry) for entry in (turn, later)] == [[WRONG], [WRONG]]
    with pytest.raises(IntegrityError), transaction.atomic():
        Correction(
            session=turn.session, turn=turn, notice=again, text_sha256=first.text_sha256
        ).save()


def test_a_sent_correction_is_never_changed(ask: Ask, editor: User) -> None:
    correct(ask(), editor)
    correction = Correction.objects.get()
    with pytest.raises(AppendOnlyError):
        correction.save()
    with pytest.raises(AppendOnlyError):
        correction.delete()


def test_conversations_erased_meanwhile_are_skipped(ask: Ask, editor: User) -> None:
    result, erased = ask(), ask()
    notice = confirm(agency=IMMIGRATION, service=key_of(result), text=WRONG, by=editor)
    erasing.erase_session(session_id=erased.session_id)
    notice = deliver(notice_id=notice.pk)
    assert (notice.total, notice.sent, notice.gone) == (2, 1, 1)
    assert Correction.objects.get().session_id == result.session_id


def test_erasing_takes_corrections_along(ask: Ask, editor: User) -> None:
    turn = ask()
    correct(turn, editor)
    erasing.erase_session(session_id=turn.session_id)
    assert not Correction.objects.exists()
    assert CorrectionNotice.objects.get().sent == 1


def test_many_go_in_batches_and_a_run_that_was_cut_off_goes_on(
    ask: Ask, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "BATCH", 2)
    turns = [ask() for _ in range(5)]
    notice = confirm(agency=IMMIGRATION, service=key_of(turns[0]), text=WRONG, by=editor)
    records: list[Turn] = []

    def fails_once(turn: Turn) -> None:
        records.append(turn)
        if len(records) == 4:
            raise RuntimeError("cut off")

    monkeypatch.setattr(moves, "notify_pages", fails_once)
    with pytest.raises(RuntimeError, match="cut off"):
        deliver(notice_id=notice.pk)
    assert Correction.objects.count() == 2
    assert CorrectionNotice.objects.get().sent_at is None
    notice = deliver(notice_id=notice.pk)
    assert [texts_of(turn) for turn in turns] == [[WRONG]] * 5
    assert (notice.total, notice.sent) == (5, 5)
    assert deliver(notice_id=notice.pk).sent_at == notice.sent_at
    assert len(records) == 7


def test_an_answer_given_afterwards_is_not_meant(ask: Ask, editor: User) -> None:
    notice = confirm(agency=IMMIGRATION, service=key_of(ask()), text=WRONG, by=editor)
    later = ask()
    assert deliver(notice_id=notice.pk).sent == 1
    assert texts_of(later) == []


def test_nothing_is_sent_to_nobody_or_without_words(ask: Ask, editor: User) -> None:
    key = key_of(ask())
    for values, problem in (
        ({"text": " "}, "Write what citizens should know"),
        ({"text": "a" * 1001}, "1,001 characters"),
        ({"text": WRONG, "version": "0" * 64}, "no answer to correct"),
    ):
        with pytest.raises(Refused) as refused:
            confirm(**{"agency": IMMIGRATION, "service": key, "by": editor, **values})  # type: ignore[arg-type]
        assert problem in str(refused.value)
    assert not CorrectionNotice.objects.exists()
    assert not AuditEvent.objects.filter(kind="correction.confirmed").exists()


def test_a_worker_sends_it_once_it_is_committed(
    ask: Ask,
    editor: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: OnCommit,
) -> None:
    turn, sent, hints = ask(), [], []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **o: sent.append((name, args)))
    monkeypatch.setattr(notify, "send_turn_changed", lambda **ids: hints.append(ids))
    with django_capture_on_commit_callbacks(execute=True):
        notice = confirm(agency=IMMIGRATION, service=key_of(turn), text=WRONG, by=editor)
        assert sent == []
    ((name, arguments),) = sent
    assert arguments == (str(notice.pk),)
    with django_capture_on_commit_callbacks(execute=True):
        assert name == tasks.send_corrections.name
        tasks.send_corrections(*arguments)
    assert texts_of(turn) == [WRONG]
    assert hints == [{"session_id": turn.session_id, "turn_id": turn.pk}]


def test_the_citizen_reads_it_beneath_the_answer(ask: Ask, editor: User, client: Client) -> None:
    secret = services.new_secret()
    turn = ask(secret=secret)
    before = selectors.chat_view(secret=secret)
    correct(turn, editor)
    now = selectors.chat_view(secret=secret)
    assert now.version != before.version
    (correction,) = now.turns[0].corrections
    assert (correction.text, correction.origin) == (WRONG, "staff")
    client.post(f"/c/{secret}/")
    page = client.get("/").content.decode()
    assert page.index("Why this answer") < page.index(WRONG)
    assert "Written by staff, <time" in page
