"""Asking one question of the draft and of the published release. Nothing of it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from django.utils import timezone
from django.utils.translation import gettext

from conversations.turns import running
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.notices import selectors as notices
from ieim.knowledge.vectors import made_for
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Model, Shortlist
from ieim.studio.drafts import selectors as drafts
from ieim.studio.evaluation.run import Asked, Asker, language_of
from ieim.studio.trying.shortlists import Listening, ListeningStore

Which = Literal["draft", "published"]


class NoModel(Exception):
    """No answer could be had; the message is a plain sentence for staff."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: what was asked of it and what came of that."""

    which: Which
    release: Release
    """In the language of the question, as far as there are translations."""
    language: str
    model: str
    asked: Asked
    shortlist: Listening


def ask_both(text: str, *, model: Model | None = None) -> tuple[Side, ...]:
    """Ask the draft and the published release as a citizen would, at once; the draft comes first.

    There is one side only where nothing is published, or where the draft is the published release
    to the byte. Raises :class:`ieim.knowledge.bundles.bundle.BundleError` for a draft that cannot
    be used, and :class:`NoModel`.
    """
    model, now = model or running.configured_model(), timezone.now()
    draft, published = drafts.draft().release(0), knowledge.current_release()
    releases: list[tuple[Which, Release]] = [("draft", draft)]
    if published is not None and published.sha256 != draft.sha256:
        releases.append(("published", published))
    sought = [_sought(text, each) for _, each in releases]
    with ThreadPoolExecutor(len(releases)) as pool:
        # The pipeline touches no database here, so threads need no connection.
        asking = [
            pool.submit(_ask, which, text, found, model, notices.runtime_directive(each, now))
            for (which, each), found in zip(releases, sought, strict=True)
        ]
        sides = [each.result() for each in asking]
    _check(sides)
    return tuple(sides)


@dataclass(frozen=True, slots=True)
class _Sought:
    language: str
    view: Release
    shortlist: Shortlist


def _sought(text: str, release: Release) -> _Sought:
    language = language_of(text, (), release)
    view = release.in_language(language)
    return _Sought(language, view, made_for(view))


def _ask(which: Which, text: str, sought: _Sought, model: Model, directive: str | None) -> Side:
    listening = Listening(sought.shortlist, sought.view)
    # The language is the text's, so no other view is ever searched.
    asker = Asker(model, sought.view, listening, running.options(), directive)
    asked = asker.turn(text, store=ListeningStore(listening))
    return Side(which, sought.view, sought.language, model.name, asked, listening)


def _check(sides: Sequence[Side]) -> None:
    for side in sides:
        if side.asked.outcome is None:
            if side.asked.unavailable:
                told = gettext("The model cannot be reached: {reason}")
                raise NoModel(told.format(reason=side.asked.reason))
            raise NoModel(
                gettext("The question could not be asked: an error of ours is in the log.")
            )
