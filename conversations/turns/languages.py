"""The language of a turn, of its texts and of the reply."""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet

from conversations.models import Turn
from ieim.administration import selectors as administration
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message import language
from ieim.pipeline.message.legible import legible
from ieim.pipeline.reply import guidance
from ieim.search import kinds


def written_in() -> str:
    """Return the language that the knowledge is written in: the first that is configured."""
    return str(settings.IEIM_MODEL["LANGUAGES"][0])


def supported(release: Release) -> frozenset[str]:
    """Return the languages that questions are answered in."""
    return release.languages.union(settings.IEIM_MODEL["LANGUAGES"])


def detect(text: str, release: Release | None, talk: Turn | QuerySet[Turn] | None = None) -> str:
    """Return the likely language of a message, empty where it cannot be detected.

    "And the fee?" and "ok" are too short: they go on in the language of the ``talk``, a turn or the
    last of several. Without one a greeting or thanks such as "hola" decides, and before it
    the script of "谢谢": they are answered in a language that guidance exists in.
    """
    text = legible(text).text
    if isinstance(talk, QuerySet):
        before = talk.order_by("-number").values_list("language", flat=True).first() or ""
    else:
        before = talk.language if talk is not None else ""
    if release is None:
        return language.best(text, frozenset(settings.IEIM_MODEL["LANGUAGES"])) or before
    return (
        language.best(text, supported(release))
        or language.short(text, guidance.languages(release))
        or before
        or kinds.language_of_words(text)
    )


def reply_language(turn: Turn) -> str:
    """Return the language of the reply to ``turn``, empty for that of the knowledge."""
    return "" if turn.language == written_in() else turn.language


def written_release(turn: Turn) -> Release:
    """Return the release of ``turn`` as it was written, asked for once.

    Raises what :func:`ieim.knowledge.selectors.release` does.
    """
    if turn.release is None:
        turn.release = knowledge.release(turn.release_number)
    return turn.release


def release_of(turn: Turn) -> Release:
    """Return the release of ``turn`` in its language, as far as there are translations.

    Raises as :func:`written_release`.
    """
    return in_language(written_release(turn), turn.language)


def in_language(release: Release, code: str) -> Release:
    """Return a release as citizens read it in ``code``: what becomes of stale translations is a
    setting of the administration."""
    return release.in_language(code, omit_stale=administration.current().omits_stale)
