"""The draft that editors change, its way to a release, and what they keep beside it."""

from ieim.studio.models.draft import (
    Agency,
    Category,
    DraftEntry,
    HelpLine,
    Label,
    RiskExample,
    Service,
    Translation,
)
from ieim.studio.models.kept import Change, GoldenQuestion
from ieim.studio.models.proposals import CheckRun, GoldenRun, Proposal, Run
from ieim.studio.models.texts import CaseText

__all__ = [
    "Agency",
    "CaseText",
    "Category",
    "Change",
    "CheckRun",
    "DraftEntry",
    "GoldenQuestion",
    "GoldenRun",
    "HelpLine",
    "Label",
    "Proposal",
    "RiskExample",
    "Run",
    "Service",
    "Translation",
]
