"""Erasing a conversation, also while a worker is at it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from conversations import selectors
from conversations.models import (
    Attempt,
    Choice,
    ClientTurn,
    Correction,
    Delay,
    Delivery,
    EvidenceSpan,
    Line,
    MailRequest,
    PersonRequest,
    Replacement,
    Reply,
    Session,
    Stage,
    Subscription,
    Takeover,
    Turn,
    Unused,
)
from conversations.turns import erasing, running, services
from conversations.turns.locking import is_erased
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.people.models import User
from ieim.pipeline.topology import ANSWERING
from review.models import ReviewItem
from review.talking import say
from tests.conversations.person.asking import item_of, taken_over, wants
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

pytestmark = pytest.mark.both_databases

NAME = "Wilhelmina Oberländer"
SAID = f"I want to extend my tourist visa. I am {NAME}"
BAD = ["no json", "no json"]
HELD = (
    *(Stage, Attempt, Choice, EvidenceSpan, Reply, ClientTurn, Correction),
    Replacement,
    *(Unused, Delay, PersonRequest, Takeover, Line, MailRequest, Subscription, Delivery),
)


class Call(threading.Event):
    """A model call that ends when it is set; ``began`` is set once it has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.began = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.began.set()
        return super().wait(timeout)


def test_it_leaves_no_word_of_the_citizen(ask: Ask) -> None:
    turn = ask(SAID, secret="a")
    ask("I want to kill myself", secret="a")
    request = wants("a", f"{NAME} needs somebody", way="email", contact="oberlaender@example.org")
    taken_over(request, desk.person("eva"))
    say(item_id=item_of(request).pk, actor=User.objects.get(), text=f"Hello {NAME}")
    MailRequest.objects.create(
        turn=turn,
        session=turn.session,
        address="oberlaender@example.org",
        language="en-gb",
        state="confirmed",
        asked_at=timezone.now(),
    )
    ask(VISA, secret="b")
    others = {model: model.objects.count() for model in HELD}
    erasing.erase_session(session_id=turn.session_id)
    for model in apps.get_models():
        for row in model._default_manager.values_list():
            assert "oberl" not in str(row).lower(), model
    for row in Turn.objects.filter(session_id=turn.session_id):
        assert (row.text, row.risks, row.state, row.lease) == ("", [], "closed", None)
    for model in HELD:
        count = model.objects.count()
        assert count < others[model] or others[model] == 0, model
    assert Reply.objects.get().turn.text == VISA


def test_it_says_how_much_was_erased_and_keeps_the_chain(ask: Ask) -> None:
    turn = ask(SAID)
    stages = turn.stages.count()
    erased = erasing.erase_session(session_id=turn.session_id, actor="system")
    assert erased == {"turns": 1, "stages": stages, "review_items": 0}
    event = AuditEvent.objects.filter(chain=turn.session_id).order_by("seq").last()
    assert event is not None
    assert (event.kind, event.actor) == ("session.erased", "system")
    assert event.payload == '{"turns":1}'
    assert verify(turn.session_id).ok


def test_it_opens_the_session_to_nobody_any_more(ask: Ask) -> None:
    turn = ask(SAID, secret="a")
    erasing.erase_session(session_id=turn.session_id)
    assert selectors.session_for_secret("a") is None
    assert is_erased(Session.objects.get())
    with pytest.raises(Session.DoesNotExist):
        services.receive(session=turn.session_id, text=VISA)


def test_it_erases_once(ask: Ask) -> None:
    turn = ask(SAID)
    assert erasing.erase_session(session_id=turn.session_id)
    count = AuditEvent.objects.count()
    assert erasing.erase_session(session_id=turn.session_id) is None
    assert AuditEvent.objects.count() == count


def test_it_begins_anew_with_the_secret_of_an_erased_session(ask: Ask) -> None:
    first = ask(SAID, secret="a")
    erasing.erase_session(session_id=first.session_id)
    second = ask(VISA, secret="a")
    assert second.session_id != first.session_id
    assert selectors.history(second) == []


@pytest.mark.parametrize("state", ["open", "claimed", "decided"])
def test_it_takes_its_review_items_along(ask: Ask, state: str) -> None:
    with scripted_model({"agency_detect_v1": BAD}) as (model, _):
        turn = ask(SAID, model=model)
    with scripted_model({"agency_detect_v1": BAD}) as (model, _):
        other = ask(VISA, model=model)
    ReviewItem.objects.update(state=state)
    erased = erasing.erase_session(session_id=turn.session_id)
    assert erased is not None
    assert erased["review_items"] == 1
    assert {item.turn_id for item in ReviewItem.objects.all()} == {other.pk}


def test_it_runs_no_erased_turn(ask: Ask, published: None) -> None:
    turn = services.receive(session="a", text=SAID, enqueue=False)[0]
    erasing.erase_session(session_id=turn.session_id)
    running.run_turn(turn_id=turn.pk)
    turn.refresh_from_db()
    assert (turn.state, turn.runs) == ("closed", 0)
    assert not Stage.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("contract", ["judgement_v1", "service_select_v1"])
def test_it_stops_a_worker_that_is_at_it(
    published: None, in_threads: Callable[..., list[object]], contract: str
) -> None:
    turn = services.receive(session="a", text=SAID, enqueue=False)[0]
    call = Call()
    with scripted_model({contract: [call]}) as (model, server):

        def erase() -> None:
            assert call.began.wait(60)
            try:
                erasing.erase_session(session_id=turn.session_id)
            finally:
                call.set()

        in_threads([lambda: running.run_turn(turn_id=turn.pk, model=model), erase])
        assert [stage for stage, _ in server.asked if stage in ANSWERING][-1] == contract
    turn.refresh_from_db()
    assert (turn.state, turn.text, turn.lease, turn.runs) == ("closed", "", None, 0)
    for entry in HELD:
        assert not entry.objects.exists()
    kinds = AuditEvent.objects.filter(chain=turn.session_id).order_by("seq")
    assert list(kinds.values_list("kind", flat=True))[-1] == "session.erased"
    assert verify(turn.session_id).ok


def test_it_erases_between_the_claim_and_reading_it(published: None) -> None:
    turn = services.receive(session="a", text=SAID, enqueue=False)[0]
    claims: list[str] = []

    def erasing_after_the_claim(execute: Callable[..., object], sql: str, *rest: Any) -> object:
        answer = execute(sql, *rest)
        if sql.startswith("UPDATE") and "leased_until" in sql and not claims:
            claims.append(sql)
            erasing.erase_session(session_id=turn.session_id)
        return answer

    with connection.execute_wrapper(erasing_after_the_claim):
        running.run_turn(turn_id=turn.pk)
    turn.refresh_from_db()
    assert (len(claims), turn.state, turn.runs, turn.lease) == (1, "closed", 0, None)


@pytest.mark.django_db(transaction=True)
def test_it_erases_whenever_in_a_run_it_comes(
    published: None, in_threads: Callable[..., list[object]]
) -> None:
    for number in range(12):
        turn = services.receive(session=f"s{number}", text=SAID, enqueue=False)[0]
        in_threads(
            [
                lambda pk=turn.pk: running.run_turn(turn_id=pk),
                lambda pk=turn.session_id: erasing.erase_session(session_id=pk),
            ]
        )
        turn.refresh_from_db()
        assert (turn.state, turn.text, turn.runs) == ("closed", "", 0)
        assert verify(turn.session_id).ok
    for entry in HELD:
        assert not entry.objects.exists()
    assert not connection.in_atomic_block


def test_it_knows_every_table_that_hangs_on_a_session() -> None:
    related = {
        relation.related_model._meta.label
        for model in (Session, Turn, Stage)
        for relation in model._meta.related_objects
    }
    erased = {model._meta.label for model in (*HELD, Turn)}
    # Review items and all that hangs on them, and gaps, go by a port.
    assert related == erased | {"review.ReviewItem", "studio.Gap"}, (
        "decide what erasing does with this table"
    )


def test_it_knows_every_column_of_a_turn() -> None:
    emptied = {
        "text",
        "risks",
        "language",
        "situation",
        "lease",
        "leased_until",
        "retry_at",
        "unavailable_since",
    }
    wordless = {
        *("id", "session", "number", "state", "release_number"),
        *(
            "created_at",
            "updated_at",
            "queued_at",
            "runs",
            "resumed",
            "hold_waived",
            "said_safe_at",
            "first_release",
            "renewed_at",
        ),
    }
    columns = {field.name for field in Turn._meta.fields}
    assert columns == emptied | wordless, "decide what erasing does with this column"
