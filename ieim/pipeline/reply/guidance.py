"""Guidance: the reply to a message that is no inquiry to an administration.

The administration has a text for each case, by language, as part of its release; where it has none
the one of ``guidance.yaml`` is used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import grounding
from ieim.pipeline.knowledge import CASES, CIRCUMSTANCES, CaseText, Release
from ieim.pipeline.reply.plain_text import paragraphs
from ieim.pipeline.reply.reply import Reply

UNCLEAR = "unclear"
"""The case of a message that is none of the others."""

CONTACTS = "{contacts}"
"""A paragraph of a text that stands for how the administration is reached, and when."""

_SPOKEN = {"tl": "fil"}
"""Codes that detection tells, and what those who speak the language call it."""

_LAST = "en"
"""Every case has a text that is shipped in this language."""


@cache
def shipped() -> tuple[CaseText, ...]:
    """Return the texts that come with the software, every one in the same languages."""
    path = Path(__file__).parent / "guidance.yaml"
    content: Mapping[str, Mapping[str, str]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(
        CaseText(case, language, text)
        for case, by_language in content.items()
        for language, text in by_language.items()
    )


def texts(release: Release, languages: Sequence[str]) -> dict[str, CaseText]:
    """Return the text of each of ``CASES`` and ``CIRCUMSTANCES``.

    It is that of the first of ``languages`` that has one; in one language the administration's own
    comes before the one that is shipped. Where there is none in any of them it is English.
    """
    stored = {(text.case, _code(text.language)): text for text in (*shipped(), *release.texts)}
    codes = [_code(text) for text in (*languages, _LAST)]
    return {
        case: next(stored[case, code] for code in codes if (case, code) in stored)
        for case in (*CASES, *CIRCUMSTANCES)
    }


def slot(
    release: Release,
    languages: Sequence[str],
    case: str,
    only: Collection[str] | None = None,
    *,
    contacts: Callable[[], str] = str,
) -> dict[str, Any]:
    """Return ``guidance``, as the per-call JSON has it: the texts of ``only`` these cases, and the
    language of that of ``case``.

    What ``contacts`` returns takes the place of :data:`CONTACTS`; if it is empty, the paragraph is
    left out.
    """
    by_case = texts(release, languages)
    sent = {
        name: _filled(by_case[name].text, contacts)
        for name in CASES
        if only is None or name in only
    }
    return {"language": by_case[case].language, "texts": sent}


def _filled(text: str, contacts: Callable[[], str]) -> str:
    if CONTACTS not in text:
        return text
    given = contacts()
    parts = [part for part in text.split("\n\n") if given or CONTACTS not in part]
    return "\n\n".join(parts).replace(CONTACTS, given)


def chosen(reply: str, request: Mapping[str, Any]) -> str:
    """Return the text that is shown in place of a model's reply: the one that it repeats word for
    word, or else that of the kind of message that the search takes it for."""
    sent: Mapping[str, str] = request["guidance"]["texts"]
    by_words = {" ".join(text.split()): text for text in sent.values()}
    kind = request.get("ranking", {}).get("kind", UNCLEAR)
    return by_words.get(" ".join(reply.split()), sent.get(kind, sent[UNCLEAR]))


def check(
    reply: str, release: Release, request: Mapping[str, Any] | None, *, path: str
) -> list[Finding]:
    """Return what is wrong with the reply to a message that is no inquiry.

    ``reply.empty`` where it is blank. What a person wrote (a ``request`` without texts) is shown as
    it is, so ``reply.ungrounded`` for each fact in it that no text of the administration gives.
    """
    if not any(character.isalnum() for character in reply):
        return [Finding(Code.REPLY_EMPTY, path, "The reply has no words.")]
    if request and "guidance" in request:
        return []
    return grounding.ungrounded(reply, every_text(release), release)


def is_prepared(reply: Reply, release: Release) -> bool:
    """Whether a reply is a text of the administration's, word for word, but for its contacts."""
    if reply.kind != "guidance":
        return False
    return any(_is_text(reply.paragraphs, text) for text in every_text(release))


def _is_text(reply_paragraphs: tuple[str, ...], text: str) -> bool:
    before, contacts, after = text.partition(CONTACTS)
    if not contacts:
        return reply_paragraphs == tuple(paragraphs(text))
    first, last = tuple(paragraphs(before)), tuple(paragraphs(after))
    rest = len(reply_paragraphs) - len(last)
    return (
        len(first) <= rest
        and reply_paragraphs[: len(first)] == first
        and reply_paragraphs[rest:] == last
    )


def every_text(release: Release) -> list[str]:
    """Return each text of each case, in every language: what a person may take words from."""
    written = {(text.case, _code(text.language)) for text in release.texts}
    rest = (
        shipped_text
        for shipped_text in shipped()
        if (shipped_text.case, _code(shipped_text.language)) not in written
    )
    return [shipped_text.text for shipped_text in (*release.texts, *rest)]


def languages(release: Release) -> frozenset[str]:
    """Return the languages in which there is a text of every case, by all their codes."""
    codes = {text.language for text in (*shipped(), *release.texts)}
    whole = {_code(code) for code in codes if not _nowhere(release.texts, code)}
    return frozenset(whole.union(code for code, spoken in _SPOKEN.items() if spoken in whole))


def missing(texts: Sequence[CaseText], language: str) -> list[str]:
    """Return the cases for which the ``texts`` of a release have none in ``language``.

    An administration that has begun to write its own text of a case has to write it in each of its
    languages: the shipped text, which would be used elsewhere, says something else.
    """
    begun, nowhere = {text.case for text in texts}, _nowhere(texts, language)
    written = _cases(texts, language)
    return [case for case in CASES if case not in written and (case in begun or case in nowhere)]


def _nowhere(texts: Sequence[CaseText], language: str) -> set[str]:
    """Return the cases that have no text in a language, theirs or shipped."""
    return set(CASES) - _cases([*shipped(), *texts], language)


def _cases(texts: Iterable[CaseText], language: str) -> set[str]:
    return {text.case for text in texts if _code(text.language) == _code(language)}


def _code(language: str) -> str:
    return _SPOKEN.get(language, language)
