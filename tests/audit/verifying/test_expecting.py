"""A kept digest: the record must still begin with all that it was taken over."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from ieim.audit.checkpoints import take_checkpoint
from ieim.audit.models import (
    SYSTEM_CHAIN,
    AuditCheckpoint,
    AuditEvent,
    AuditHead,
    CheckpointHead,
)
from ieim.audit.services import record
from tests.audit.owner import rehash, triggers_lifted
from tests.selection import sample

pytestmark = pytest.mark.django_db
POSITIONS = 20
LENGTH = 5
NOT_STORED = (
    "no checkpoint with the digest that was kept is stored: it was removed or changed, or this is "
    "an older or another database"
)


@pytest.fixture
def chains(db: None) -> list[UUID]:
    """Chains of five events."""
    results = [uuid4() for _ in range(POSITIONS)]
    for chain in results:
        for number in range(LENGTH):
            append(chain, number=number)
    return results


@pytest.fixture
def digest(chains: list[UUID]) -> str:
    """What checkpoint_audit printed over them."""
    out = StringIO()
    call_command("checkpoint_audit", "--json", stdout=out)
    return str(json.loads(out.getvalue())["digest"])


def append(chain: UUID, **payload: Any) -> AuditEvent:
    with transaction.atomic():
        return record(chain=chain, kind="review.released", payload=payload, actor="staff:eve")


def verified(*options: str) -> dict[str, Any]:
    out = StringIO()
    with suppress(CommandError):
        call_command("verify_audit", "--json", *options, stdout=out)
    data: dict[str, Any] = json.loads(out.getvalue())
    assert data["ok"] is not bool(data["broken"] or data["differing"] or data["faults"])
    return data


def rewrite(chain: UUID, start: int) -> None:
    """Change the actor of an event, and make every hash from there on fit again."""
    previous = ""
    for event in AuditEvent.objects.filter(chain=chain, seq__gt=start).order_by("seq"):
        event.actor = "staff:mallory"
        event.prev_hash = previous or event.prev_hash
        event.hash = previous = rehash(event)
        values = {name: getattr(event, name) for name in ("actor", "prev_hash", "digest", "hash")}
        AuditEvent.objects.filter(pk=event.pk).update(**values)
    AuditHead.objects.filter(chain=chain).update(hash=previous)


def forget_checkpoints() -> None:
    """Remove the only checkpoint with its event, the last of the system chain."""
    CheckpointHead.objects.all()._raw_delete("default")
    AuditCheckpoint.objects.all()._raw_delete("default")
    AuditEvent.objects.filter(chain=SYSTEM_CHAIN)._raw_delete("default")
    AuditHead.objects.filter(chain=SYSTEM_CHAIN).delete()


def test_it_holds_and_goes_on(chains: list[UUID], digest: str) -> None:
    result = verified("--expect", digest, "--nothing-since")
    assert (result["ok"], result["since"]) == (True, 0)
    append(chains[3])
    append(uuid4())
    later = take_checkpoint().digest
    append(chains[3])
    result = verified("--expect", digest)
    assert (result["ok"], result["since"]) == (True, 4)  # with the later checkpoint's own event
    result = verified("--expect", later.upper())
    assert (result["ok"], result["since"]) == (True, 1)


def test_it_finds_chains_written_anew_with_good_hashes(chains: list[UUID], digest: str) -> None:
    with triggers_lifted():
        for position, chain in enumerate(chains):
            rewrite(chain, position % LENGTH)
    broken = verified("--expect", digest)["broken"]
    assert {(entry["chain"], entry["break"]) for entry in broken} == {
        (str(chain), "checkpoint") for chain in chains
    }


@pytest.mark.parametrize("position", sample(range(POSITIONS), keep=4))
def test_it_finds_one_written_anew_with_a_forged_checkpoint(
    chains: list[UUID], digest: str, position: int
) -> None:
    with triggers_lifted():
        rewrite(chains[position], position % LENGTH)
        forget_checkpoints()
    take_checkpoint()
    assert verified()["ok"]
    assert verified("--expect", digest)["faults"] == [NOT_STORED]


@pytest.mark.parametrize("position", sample(range(POSITIONS), keep=4))
def test_it_finds_a_forged_append_below_a_forged_checkpoint(
    chains: list[UUID], digest: str, position: int
) -> None:
    append(chains[position])
    with triggers_lifted():
        forget_checkpoints()
        forged = take_checkpoint()
        # Told apart by nothing but what it was taken over.
        AuditCheckpoint.objects.filter(pk=forged.pk).update(digest=digest)
    assert verified("--expect", digest)["faults"] == [
        "checkpoint 1 is not what was recorded",
        *["checkpoint 1 does not follow from the heads that are stored with it"] * 2,
    ]


def test_it_finds_a_truncated_database(digest: str) -> None:
    with triggers_lifted():
        forget_checkpoints()
        AuditEvent.objects.all()._raw_delete("default")
        AuditHead.objects.all().delete()
    assert verified()["ok"]
    assert verified("--expect", digest)["faults"] == [NOT_STORED]


def test_it_finds_a_truncated_tail(chains: list[UUID], digest: str) -> None:
    with triggers_lifted():
        for position, chain in enumerate(chains):
            to = position % LENGTH
            events = AuditEvent.objects.filter(chain=chain)
            events.filter(seq__gt=to)._raw_delete("default")
            last = events.order_by("seq").last()
            heads = AuditHead.objects.filter(chain=chain)
            heads.update(seq=to, hash=last.hash) if last else heads.delete()
        CheckpointHead.objects.filter(chain__in=chains)._raw_delete("default")
    result = verified("--expect", digest)
    assert result["faults"] == [
        *["checkpoint 1 does not follow from the heads that are stored with it"] * 2
    ]


def test_it_finds_a_forged_append_where_nothing_should_have_been_added(
    chains: list[UUID], digest: str
) -> None:
    append(chains[7])
    # It might be an honest one: only who knows that nothing happened since can tell.
    assert verified("--expect", digest)["ok"]
    assert verified("--expect", digest, "--nothing-since")["faults"] == [
        "1 events were added since the checkpoint that was expected"
    ]


def test_it_finds_a_forged_append_that_says_it_is_older(chains: list[UUID], digest: str) -> None:
    events = [append(chain) for chain in chains]
    with triggers_lifted():
        for days, event in enumerate(events, 1):
            event.at = timezone.now() - timedelta(days=days)
            stored = AuditEvent.objects.filter(pk=event.pk)
            forged = rehash(event)
            stored.update(at=event.at, digest=event.digest, hash=forged)
            AuditHead.objects.filter(chain=event.chain).update(hash=forged)
    assert verified()["ok"]
    assert set(verified("--expect", digest)["faults"]) == {
        f"{chain}: event 6 says that it is from before checkpoint 1, which did not see it"
        for chain in chains
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--expect", "abc"], "a digest is 64 characters"),
        (["--nothing-since"], "needs --expect"),
        (["--expect", "0" * 64, "--session", str(SYSTEM_CHAIN)], "leave --session out"),
    ],
)
def test_it_says_what_to_pass(db: None, options: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("verify_audit", *options)
