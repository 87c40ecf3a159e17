"""Replies from a release that is live no more: what was withdrawn or changed since."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from django.utils.translation import gettext

from conversations.citations import version
from conversations.models import Turn
from conversations.states import DECIDED_STAGE_STATUSES
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.knowledge import Service
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.topology import ANSWERING
from ieim.studio.labels import COLUMNS

SHOWN_CHARS: Final = 80
"""The longest value of a changed field that is written out; of a longer one only the name."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The names of the services of a reply that the live release, ``live``, has no more
    (``withdrawn``) or says something else of (``changed``, each with the fields that differ)."""

    live: int
    withdrawn: tuple[str, ...]
    changed: tuple[str, ...]

    def __str__(self) -> str:
        sentences = {
            gettext("Withdrawn since: {names}."): self.withdrawn,
            gettext("Changed since: {names}."): self.changed,
        }
        parts = (text.format(names=", ".join(names)) for text, names in sentences.items() if names)
        return " ".join(parts)


def older_release(turn: Turn) -> str:
    """Return that a turn is on another release than the live one, as a sentence; empty where it is
    not."""
    live = knowledge.current_number()
    if live in (None, turn.release_number):
        return ""
    text = gettext("This message was read with release {number}; release {live} is live now.")
    return text.format(number=turn.release_number, live=live)


def askable_release(turn: Turn) -> int | None:
    """Return the newer release that a turn is asked again with; None where it is on the live one,
    or somebody has decided a step of it: that was decided for the release that it is on."""
    live = knowledge.current_number()
    decided = turn.stages.filter(contract__in=ANSWERING, status__in=DECIDED_STAGE_STATUSES)
    return None if live in (None, turn.release_number) or decided.exists() else live


def from_newer(number: int) -> str:
    """Return that asking again begins anew with release ``number``, as a sentence."""
    return gettext("It begins anew, with release {number}.").format(number=number)


def changes_since(turn: Turn, reply: Reply | None) -> Changes | None:
    """Return what has changed of the services that a reply stands on; None for nothing."""
    live = knowledge.current_release()
    if reply is None or live is None or live.number == turn.release_number:
        return None
    release = knowledge.release(turn.release_number)
    withdrawn, changed = [], []
    for key in dict.fromkeys((s.agency_id, s.service_key) for s in reply.sources):
        if key not in live.services:
            withdrawn.append(release.services[key].name)
        elif version(live, *key) != version(release, *key):
            changed.append(_difference(release.services[key], live.services[key]))
    if not withdrawn and not changed:
        return None
    return Changes(live.number, tuple(withdrawn), tuple(changed))


def _difference(before: Service, after: Service) -> str:
    """Return the name of a service and what another release says of it, field by field."""
    changes = []
    for name in (field.name for field in fields(Service)):
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        label = str(COLUMNS[name])
        is_short = isinstance(new, str) and max(len(old), len(new)) <= SHOWN_CHARS
        changes.append(f"{label}: {old or '–'} → {new or '–'}" if is_short else label)
    if not changes:
        changes.append(gettext("translations"))
    return f"{before.name} ({'; '.join(changes)})"
