"""The part of the metrics page that counts why answers were not useful."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_noop

from conversations.models import Reason
from review.metrics import sections
from review.metrics.figures import Figures, sums
from review.metrics.sections import Section

WORDS_ALONE = gettext_noop("In their own words alone")


def section(figures: Figures) -> Section:
    """Return how often citizens gave each reason, in the order in which they are offered."""
    by = sums(figures.told, lambda row: row.reason, lambda row: row.answers)
    named = [*((value, str(label)) for value, label in Reason.choices), ("", gettext(WORDS_ALONE))]
    return sections.counted(
        "feedback",
        gettext("What citizens said of answers"),
        gettext("By the day on which they said it. An answer counts once, as it is now."),
        gettext("Reason"),
        [(label, label, by[value]) for value, label in named],
    )
