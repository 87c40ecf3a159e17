"""The checks that the knowledge goes through before somebody proposes to publish it.

They are pure: a bundle goes in, remarks come out. Those that ask the search take their time where
there are many services, so they can be had apart from the others; none of theirs is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ieim.knowledge.bundles.bundle import Bundle
from ieim.pipeline.knowledge import Release
from ieim.studio.checks import rules
from ieim.studio.checks.overlap import Progress, overlapping
from ieim.studio.checks.rules import Remark, Severity

__all__ = ["Remark", "Severity", "at_once", "by_search", "examine", "in_order"]


def examine(
    bundle: Bundle, release: Release, *, budget: int | None, languages: Sequence[str] = ()
) -> list[Remark]:
    """Return every remark about ``bundle``, errors first, else in the order of the checks.

    ``release`` is the bundle's; ``budget`` is the input of one call in tokens, None for no limit;
    ``languages`` are those that the deployment answers in.
    """
    now = at_once(bundle, budget=budget, languages=languages)
    return in_order([*now, *by_search(bundle, release)])


def at_once(bundle: Bundle, *, budget: int | None, languages: Sequence[str] = ()) -> list[Remark]:
    """Return what can be said without the search."""
    return [
        *rules.dangling_references(bundle),
        *rules.situations(bundle),
        *rules.dead_ends(bundle),
        *rules.links(bundle),
        *rules.markup(bundle),
        *rules.stale_translations(bundle),
        *rules.different_figures(bundle),
        *rules.missing_texts(bundle, languages),
        *rules.too_long(bundle, budget),
    ]


def by_search(
    bundle: Bundle, release: Release, *, progress: Progress = lambda done, total: None
) -> list[Remark]:
    """Return what only the search can say."""
    return list(overlapping(bundle, release, progress))


def in_order(remarks: Iterable[Remark]) -> list[Remark]:
    return sorted(remarks, key=lambda remark: remark.severity is not Severity.ERROR)
