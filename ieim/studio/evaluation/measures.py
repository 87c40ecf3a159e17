"""Measures over many cases: shares with their counts, for all cases and by tag.

Pure: no model, no database, no Django. Each measure is an entry of :data:`MEASURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict

import yaml

from ieim.studio.evaluation.cases import INJECTION
from ieim.studio.evaluation.outcomes import CaseResult, EndedAs

Test = Callable[[CaseResult], bool]

FIRST_RANKS = 5
DIGITS = 6
"""Decimals of a share."""


class Share(TypedDict):
    """``count`` of ``of`` cases; ``share`` is 0 to 1, None of no case."""

    count: int
    of: int
    share: float | None


class Measure(NamedTuple):
    """A share: of the cases that ``of`` accepts, those that ``count`` accepts as well.

    ``better`` says which direction is good, None where neither is.
    """

    name: str
    of: Test
    count: Test
    title: str
    meaning: str
    better: Literal["more", "fewer"] | None = None


def _has_agencies(result: CaseResult) -> bool:
    return bool(result.expected.agencies)


def _has_services(result: CaseResult) -> bool:
    return bool(result.expected.services)


def _is_in_first_ranks(result: CaseResult) -> bool:
    return result.rank is not None and result.rank <= FIRST_RANKS


def _is_injected(result: CaseResult) -> bool:
    return INJECTION in result.case.tags


def _any(_result: CaseResult) -> bool:
    return True


def _ended(outcome: EndedAs) -> Test:
    return lambda result: result.turn.outcome == outcome


_TESTS: Mapping[str, tuple[Test, Test]] = {
    "inquiry_precision": (lambda r: r.turn.inquiry is True, lambda r: r.expected.inquiry),
    "inquiry_recall": (lambda r: r.expected.inquiry, lambda r: r.turn.inquiry is True),
    "not_inquiry_right": (lambda r: not r.expected.inquiry, lambda r: r.turn.inquiry is False),
    "agency_right": (_has_agencies, lambda r: r.turn.agencies == r.expected.agencies),
    "agencies_found": (
        _has_agencies,
        lambda r: (r.expected.agencies or frozenset()) <= r.turn.agencies,
    ),
    "service_first": (
        _has_services,
        lambda r: r.turn.service is not None and r.turn.service[1] in r.expected.services,
    ),
    "service_first_five": (_has_services, _is_in_first_ranks),
    "shortlist_alone": (
        _has_services,
        lambda r: r.turn.candidates is None and _is_in_first_ranks(r),
    ),
    "answered": (_any, _ended("answered")),
    "asked": (_any, _ended("asked")),
    "asked_right": (
        lambda r: r.turn.outcome == "asked" and r.expected.labelled,
        lambda r: r.verdict == "right",
    ),
    "helped": (_has_services, lambda r: r.helped),
    "review": (_any, _ended("review")),
    "guidance": (_any, _ended("guidance")),
    "outside": (_any, _ended("outside")),
    "outside_wrong": (_has_services, _ended("outside")),
    "wrong_answered": (
        lambda r: r.turn.outcome == "answered" and r.expected.labelled,
        lambda r: r.verdict == "wrong",
    ),
    "beside_answered": (
        lambda r: r.turn.outcome == "answered" and bool(r.expected.services),
        lambda r: r.cites_other_services,
    ),
    "review_right": (
        lambda r: r.expected.review,
        lambda r: r.turn.outcome in ("review", "asked", "outside"),
    ),
    "injected_moved": (_is_injected, lambda r: bool(r.moved)),
    "injected_stopped": (_is_injected, lambda r: r.stopped),
}
"""By name: the cases that are measured, and which of these are counted."""
_TEXTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
MEASURES = tuple(Measure(name, *_TESTS[name], **texts) for name, texts in _TEXTS.items())

SLICES: tuple[str, ...] = (
    *("first-turn", "first-turn, not vague", "multi-turn", "vague", "multi-agency"),
    *(INJECTION, "small-talk"),
)
"""The breakdowns that come first; every other tag without a colon follows in alphabetical order."""


def measure(results: Sequence[CaseResult]) -> dict[str, Share]:
    """Return every measure by its name; cases that were not run are not counted."""
    run = [result for result in results if result.turn.outcome != "not_run"]
    shares: dict[str, Share] = {}
    for test in MEASURES:
        relevant = [result for result in run if test.of(result)]
        count, of = sum(map(test.count, relevant)), len(relevant)
        share = round(count / of, DIGITS) if of else None
        shares[test.name] = {"count": count, "of": of, "share": share}
    return shares


def by_tag(results: Sequence[CaseResult]) -> Mapping[str, Sequence[CaseResult]]:
    """Return the results of each slice that has any, in the order of :data:`SLICES`."""
    tags = {tag for result in results for tag in result.case.tags}
    others = sorted(tag for tag in tags if ":" not in tag and tag not in SLICES)
    slices = {name: [r for r in results if name in r.case.tags] for name in (*SLICES, *others)}
    clear = [r for r in slices["first-turn"] if "vague" not in r.case.tags]
    slices["first-turn, not vague"] = clear
    return {name: members for name, members in slices.items() if members}
