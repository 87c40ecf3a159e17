from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC
from decimal import Decimal
from hashlib import sha256
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conversations.record import audited
from conversations.turns import erasing
from ieim.audit.canonical import PayloadError, is_recorded, vouch
from ieim.audit.models import SYSTEM_CHAIN, AuditEvent, AuditHead
from ieim.audit.services import new_head, record, record_system
from ieim.audit.verify import verify
from tests.fixtures import VISA, Ask

pytestmark = pytest.mark.both_databases


def hash_by_hand(event: AuditEvent) -> str:
    """Recompute the hash from the docstring of AuditEvent alone, without our code or rfc8785.

    With plain ASCII keys and integers, sorted compact JSON is RFC 8785.
    """
    members = {
        "chain": str(event.chain),
        "seq": event.seq,
        "kind": event.kind,
        "actor": event.actor,
        "at": event.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "payload": json.loads(event.payload),
        "prev_hash": event.prev_hash,
    }
    if event.digest:
        content = f"{event.salt}{members['at']}{event.payload}"
        assert sha256(content.encode()).hexdigest() == event.digest
        members |= {"at": str(members["at"])[:10], "payload": event.digest}
    text = json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()


def test_it_links_each_event_to_the_one_before(chain: UUID) -> None:
    events = list(AuditEvent.objects.filter(chain=chain).order_by("seq"))

    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert events[0].prev_hash == "0" * 64
    assert [event.prev_hash for event in events[1:]] == [event.hash for event in events[:-1]]
    head = AuditHead.objects.get(pk=chain)
    assert (head.seq, head.hash) == (5, events[-1].hash)


def test_it_hashes_what_the_docstring_says(chain: UUID) -> None:
    for event in AuditEvent.objects.filter(chain=chain):
        assert len(event.salt) == 64
        assert event.hash == hash_by_hand(event)


@pytest.mark.django_db
def test_it_goes_on_from_a_head_that_its_writer_knows_or_reads_it_anew() -> None:
    chain = uuid4()
    head = new_head(chain)
    with transaction.atomic():
        for number in range(3):
            record(chain=chain, kind="a.b", payload={"n": number}, actor="system", head=head)
        record(chain=chain, kind="a.b", payload={"n": 3}, actor="citizen")  # somebody else
        event = record(chain=chain, kind="a.b", payload={"n": 4}, actor="system", head=head)
    assert (event.seq, head.seq, head.hash) == (5, 5, event.hash)
    assert AuditEvent.objects.get(pk=event.pk).hash == hash_by_hand(event)
    assert verify(chain).ok
    assert verify(chain).events == 5


@pytest.mark.django_db
def test_it_hashes_awkward_actors_as_json_does() -> None:
    event = record_system(kind="a.b", payload={"é": '"\\\n'}, actor='staff:"o\\"\u2028ü\n')
    assert event.hash == hash_by_hand(AuditEvent.objects.get(pk=event.pk))


def test_it_keeps_chains_apart(chain: UUID, other_chain: UUID) -> None:
    event = record_system(kind="release.published", payload={"number": 1}, actor="staff:eva")

    assert (event.chain, event.seq) == (SYSTEM_CHAIN, 1)
    assert AuditHead.objects.get(pk=chain).seq == AuditHead.objects.get(pk=other_chain).seq == 5


@pytest.mark.django_db(transaction=True)
def test_it_wants_a_transaction() -> None:
    with pytest.raises(RuntimeError, match=r"inside transaction\.atomic"):
        record(chain=uuid4(), kind="turn.received", payload={}, actor="citizen")
    assert not AuditEvent.objects.exists()


@pytest.mark.django_db
def test_it_falls_with_its_transaction() -> None:
    def fail() -> None:
        with transaction.atomic():
            record(chain=uuid4(), kind="turn.received", payload={}, actor="citizen")
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert not AuditEvent.objects.exists()
    assert not AuditHead.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"score": Decimal("0.87")}, "unsupported type.*a Decimal, a date or a UUID as its text"),
        ({"a": [1, math.nan]}, "nan is not representable"),
        ({"a": 2**53}, "exceeds safe integer domain"),
        ({"a": {"b": "x\x00"}}, "contains NUL"),
        ({"x\x00": 1}, "contains NUL"),
        ({"a": "x\ud800"}, "non-UTF-8"),
        ({"\udfff": 1}, "surrogates not allowed"),
        ({1: "a"}, "keys must be strings"),
        ({"a": "x" * 65_529}, r"65,537 bytes, 65,536 is the limit"),
        ({"rows": []}, "rows and were are what an event vouches for"),
    ],
)
def test_it_refuses_a_payload(payload: Any, message: str) -> None:
    with pytest.raises(PayloadError, match=message):
        record_system(kind="a.b", payload=payload, actor="system")
    assert not AuditHead.objects.exists()


@pytest.mark.django_db
def test_it_refuses_a_payload_without_end() -> None:
    payload: dict[str, Any] = {}
    payload["a"] = payload
    with pytest.raises(PayloadError, match="recursion"):
        record_system(kind="a.b", payload=payload, actor="system")


@pytest.mark.django_db
def test_it_takes_what_is_just_allowed() -> None:
    payload: Mapping[str, Any] = MappingProxyType(
        {"big": [2**53 - 1, -(2**53) + 1], "t": (True, "\\u0000"), "text": "x" * 65_400}
    )
    event = record_system(kind="a.b", payload=payload, actor="system")

    stored = AuditEvent.objects.get(pk=event.pk)
    assert stored.payload.startswith(
        '{"big":[9007199254740991,-9007199254740991],"t":[true,"\\\\u0000"],"text":"xx'
    )


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["", "turn", "Turn.received", "turn.", "a.b\n", "a." + "b" * 63])
def test_it_refuses_a_kind(kind: str) -> None:
    with pytest.raises(ValueError, match="is no kind of event"):
        record_system(kind=kind, payload={}, actor="system")


@pytest.mark.django_db
@pytest.mark.parametrize("actor", ["", "eva", "staff:", "citizen ", "staff:" + "x" * 155])
def test_it_refuses_an_actor(actor: str) -> None:
    with pytest.raises(ValueError, match="is no actor"):
        record_system(kind="a.b", payload={}, actor=actor)


@pytest.mark.django_db
@pytest.mark.parametrize("actor", ["staff:\x00", "staff:\ud800"])
def test_it_refuses_an_actor_that_no_database_takes(actor: str) -> None:
    with pytest.raises(PayloadError, match=r"cannot be recorded|contains NUL"):
        record_system(kind="a.b", payload={}, actor=actor)


TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(TEXT, children, max_size=4),
    max_leaves=12,
)


@pytest.mark.django_db
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(payload=st.dictionaries(TEXT.filter(lambda key: key != "rows"), JSON, max_size=5))
@example(payload={"\ue000": 1, "\U00010000": 2})  # sorted by UTF-16, not by code point
@example(payload={"a": 1e21, "b": 1e-7, "c": -0.0, "d": 5e-324, "e": 1.7976931348623157e308})
def test_it_stores_any_json_so_that_it_verifies(payload: dict[str, Any]) -> None:
    chain = uuid4()
    event = record(chain=chain, kind="a.b", payload=payload, actor="citizen")
    backwards = record(
        chain=chain, kind="a.b", payload=dict(reversed(payload.items())), actor="citizen"
    )

    stored = AuditEvent.objects.get(pk=event.pk).payload
    # RFC 8785 writes a large float with all its digits and without a point.
    assert json.loads(stored, parse_int=float) == payload
    assert stored == backwards.payload
    assert verify(chain).problem is None


@pytest.mark.django_db
def test_it_sorts_keys_by_utf_16() -> None:
    event = record_system(kind="a.b", payload={"\ue000": 1, "\U00010000": 2}, actor="system")
    assert event.payload == '{"\U00010000":2,"\ue000":1}'


def test_it_serialises_writers_of_one_chain(
    in_threads: Callable[[list[Callable[[], Any]]], list[Any]],
) -> None:
    chain = uuid4()

    def write() -> None:
        for number in range(10):
            with transaction.atomic():
                record(chain=chain, kind="a.b", payload={"number": number}, actor="system")

    in_threads([write] * 8)

    def read() -> tuple[list[int], bool]:
        seqs = AuditEvent.objects.filter(chain=chain).order_by("seq")
        return list(seqs.values_list("seq", flat=True)), verify(chain).ok

    assert in_threads([read]) == [(list(range(1, 81)), True)]


@pytest.mark.django_db
def test_it_vouches_for_more_rows_than_one_event_holds() -> None:
    rows = [("span", str(number), sha256(b"%d" % number).hexdigest()) for number in range(901)]
    event = record(chain=SYSTEM_CHAIN, kind="a.b", payload={"n": 1}, actor="system", rows=rows)
    kinds = AuditEvent.objects.filter(chain=SYSTEM_CHAIN).order_by("seq")
    assert list(kinds.values_list("kind", flat=True)) == [
        *("a.b", "audit.continued", "audit.continued")
    ]
    assert json.loads(event.payload)["n"] == 1
    report = verify(SYSTEM_CHAIN)
    assert report.ok
    assert {(*key, row.digest) for key, row in report.rows.items()} == set(rows)
    assert {row.seq for row in report.rows.values()} == {1, 2, 3}


@pytest.mark.django_db
def test_words_cannot_be_found_by_trying_once_they_are_erased(ask: Ask) -> None:
    turn = ask(VISA)
    bare = [audited.TEXT.row(turn), audited.REPLY.row(turn.reply)]
    bare_digests = [digest for _, _, digest in bare] + [hashlib.sha256(VISA.encode()).hexdigest()]
    erasing.erase_session(session_id=turn.session_id)
    text = "".join(AuditEvent.objects.values_list("payload", flat=True))
    assert not [digest for digest in bare_digests if digest in text]
    assert "characters" not in text
    assert bytes(AuditHead.objects.get(pk=turn.session_id).key) == b""
    assert verify(turn.session_id).ok


def test_digests_of_before_there_were_keys_stand() -> None:
    row = ("turn", "1", "ab" * 32)
    assert is_recorded(row, row[2], b"key")
    assert is_recorded(row, vouch(row, b"key")[2], b"key")
    assert not is_recorded(row, vouch(row, b"key")[2], b"other")
    assert vouch(row, b"") == row
