"""Restating the messages of before 0.3, so that verification knows one form of them.

Events of before 0.3 name a message as a row of kind ``turn``, with one digest over its words and
its signs. At the end of ``migrate`` an event ``audit.restated`` takes that row back and vouches for
the message in today's form. A message that is not as it was recorded then is left out:
verification reports it from then on as missing and unvouched.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef

from conversations.models import Turn
from conversations.record.audited import SIGNS, TEXT
from ieim.audit.audited import (
    RESTATED,
    AuditedModel,
    ChangedBefore,
    Expected,
    SecondDigest,
    add_event,
)
from ieim.audit.canonical import GONE, Row, is_recorded
from ieim.audit.models import AuditEvent, AuditHead
from ieim.audit.services import ERASED, MAX_ROWS, record_each
from ieim.audit.upgrading import BATCH, is_complete

FORMER = AuditedModel(
    TEXT.former_kind,
    Turn.objects.all,
    (
        *("id", "session_id", "number", "text", "release_number"),
        *("language", "risks", "created_at"),
    ),
    chain_lookup="session_id",
)
_RECEIVED: Final = "turn.received"
Facts = tuple[str, int, int]
"""The digest of a message's words, its number and its release, as events of before 0.3 have them
beside their rows."""


def restate(**signal: Any) -> None:
    """Restate the messages that older events name; a receiver of ``post_migrate``.

    Repeating it restates what processes of before 0.3 have recorded since.
    """
    if not is_complete(signal):
        return
    later = AuditEvent.objects.filter(
        chain=OuterRef("chain"), seq__gt=OuterRef("seq"), kind__in=(RESTATED, ERASED)
    )
    events = AuditEvent.objects.filter(
        ~Exists(later),
        kind__in=(_RECEIVED, "turn.flagged"),
        payload__contains=f'["{FORMER.kind}",',
    )
    chains = events.order_by("chain").values_list("chain", flat=True).distinct()
    remaining = chains.iterator(chunk_size=BATCH)
    while batch := list(islice(remaining, BATCH)):
        _restate(batch)


@transaction.atomic
def _restate(chains: Sequence[UUID]) -> None:
    # Writers of a chain wait: one that is erased meanwhile may not be vouched for as it was.
    heads = AuditHead.objects.select_for_update().filter(pk__in=chains).order_by("pk")
    keys = {head.chain: bytes(head.key) for head in heads}
    turns = Turn.objects.filter(session_id__in=keys).order_by("session_id", "number")
    rows: dict[UUID, list[Row]] = {}
    for chain, turns_of_chain in groupby(turns, key=lambda turn: turn.session_id):
        try:
            expected, facts = _read(chain)
        except (ValueError, KeyError, TypeError, SecondDigest, ChangedBefore):
            continue  # Verification reports such an event.
        for turn in turns_of_chain:
            rows.setdefault(chain, []).extend(
                _restated(turn, expected, facts.get(str(turn.pk)), keys[chain])
            )
    for start in range(0, max(map(len, rows.values()), default=0), MAX_ROWS // 2):
        part = slice(start, start + MAX_ROWS // 2)
        record_each(
            kind=RESTATED, rows={chain: some[part] for chain, some in rows.items() if some[part]}
        )


def _read(chain: UUID) -> tuple[Expected, dict[str, Facts]]:
    """Return the rows that a chain's events name, and the facts of its messages by their ids."""
    expected: Expected = {}
    facts: dict[str, Facts] = {}
    events = AuditEvent.objects.filter(chain=chain).order_by("seq")
    for seq, kind, payload in events.values_list("seq", "kind", "payload"):
        add_event(expected, kind, payload.encode(), seq)
        if kind == _RECEIVED and '"text_sha256":' in payload:
            fields = json.loads(payload)
            facts[fields["turn"]] = (fields["text_sha256"], fields["number"], fields["release"])
    return expected, facts


def _restated(turn: Turn, expected: Expected, facts: Facts | None, key: bytes) -> Iterator[Row]:
    """Yield the rows that take the place of a message's former one."""
    id_ = str(turn.pk)
    former, signs = expected.get((FORMER.kind, id_)), expected.get((SIGNS.kind, id_))
    if former is None or former.digest is None:
        return
    if is_recorded(FORMER.row(turn), former.digest, key):
        yield from ((FORMER.kind, id_, GONE), TEXT.row(turn), SIGNS.row(turn))
    elif signs and signs.seq > former.seq and facts == _facts(turn):
        # This version has changed its signs since, and vouches for them.
        yield from ((FORMER.kind, id_, GONE), TEXT.row(turn))


def _facts(turn: Turn) -> Facts:
    text = hashlib.sha256(turn.text.encode("utf-8", "surrogatepass")).hexdigest()
    return text, turn.number, turn.release_number
