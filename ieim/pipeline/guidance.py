"""Guidance: what is said to a message that asks nothing of an administration (DESIGN decision 23).

The administration has a text for each case, by language, as part of its release; where it has none
the one of ``guidance.yaml`` stands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import yaml

from ieim.pipeline.knowledge import CASES, CaseText, Release

UNCLEAR = "unclear"
"""The case of a message that is none of the others."""

_SPOKEN = {"tl": "fil"}
"""Codes that detection tells, and what those who speak the language call it."""

_LAST = "en"
"""Every case has a text that is shipped in this language."""


@cache
def shipped() -> tuple[CaseText, ...]:
    """Return the texts that come with the software, every case in the same languages."""
    path = Path(__file__).parent / "guidance.yaml"
    content: Mapping[str, Mapping[str, str]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(
        CaseText(case, language, text) for case in CASES for language, text in content[case].items()
    )


def texts(release: Release, languages: Sequence[str]) -> dict[str, CaseText]:
    """Return the text of each of ``CASES``: in the first of ``languages`` that it is there in.

    In one language the administration's own comes before the one that is shipped. Where there is
    none in any of them it is English.
    """
    known = {(each.case, _code(each.language)): each for each in (*shipped(), *release.texts)}
    wanted = [_code(each) for each in (*languages, _LAST)]
    return {
        case: next(known[case, code] for code in wanted if (case, code) in known) for case in CASES
    }


def every_text(release: Release) -> list[str]:
    """Return each text of each case, in every language: what a person may take words from."""
    own = {(each.case, _code(each.language)) for each in release.texts}
    rest = (each for each in shipped() if (each.case, _code(each.language)) not in own)
    return [each.text for each in (*release.texts, *rest)]


def languages(release: Release) -> frozenset[str]:
    """Return the languages in which there is a text of every case, by all their codes."""
    found = {each.language for each in (*shipped(), *release.texts)}
    whole = {_code(code) for code in found if not _nowhere(release.texts, code)}
    return frozenset(whole.union(code for code, spoken in _SPOKEN.items() if spoken in whole))


def missing(own: Sequence[CaseText], language: str) -> list[str]:
    """Return the cases that a release with its ``own`` texts says nothing of in ``language``.

    An administration that has begun to write its own text of a case has to write it in each of its
    languages: elsewhere the text that is shipped would stand in, which says something else.
    """
    begun, nowhere = {each.case for each in own}, _nowhere(own, language)
    written = _cases(own, language)
    return [case for case in CASES if case not in written and (case in begun or case in nowhere)]


def _nowhere(own: Sequence[CaseText], language: str) -> set[str]:
    """Return the cases that have no text in a language, own or shipped."""
    return set(CASES) - _cases([*shipped(), *own], language)


def _cases(told: Iterable[CaseText], language: str) -> set[str]:
    return {each.case for each in told if _code(each.language) == _code(language)}


def _code(language: str) -> str:
    return _SPOKEN.get(language, language)
