"""Replies from a release that is live no more: what was withdrawn or changed since."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext

from conversations.corrections import version
from conversations.models import Turn
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.reply.reply import Reply


@dataclass(frozen=True, slots=True)
class Changes:
    """The names of the services of a reply that the live release, ``live``, has no more
    (``withdrawn``) or says something else of (``changed``)."""

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
            changed.append(release.services[key].name)
    if not withdrawn and not changed:
        return None
    return Changes(live.number, tuple(withdrawn), tuple(changed))
