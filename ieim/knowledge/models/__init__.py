"""The draft that editors change, the releases that turns are pinned to, and what goes with both."""

from ieim.knowledge.models.draft import (
    Agency,
    Category,
    DraftEntry,
    HelpLine,
    Label,
    RiskExample,
    Service,
    Translation,
)
from ieim.knowledge.models.guidance import CaseText
from ieim.knowledge.models.releases import CheckRun, GoldenRun, Proposal, Publication, Release, Run
from ieim.knowledge.models.staff import (
    EVERY_AGENCY,
    AgencyScope,
    Change,
    Directive,
    GoldenQuestion,
)
from ieim.knowledge.models.vectors import Vector

__all__ = [
    "EVERY_AGENCY",
    "Agency",
    "AgencyScope",
    "CaseText",
    "Category",
    "Change",
    "CheckRun",
    "Directive",
    "DraftEntry",
    "GoldenQuestion",
    "GoldenRun",
    "HelpLine",
    "Label",
    "Proposal",
    "Publication",
    "Release",
    "RiskExample",
    "Run",
    "Service",
    "Translation",
    "Vector",
]
