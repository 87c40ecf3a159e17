"""The draft that editors change, its way to a release, and what they keep beside it."""

from ieim.studio.models.draft import (
    DRAFT_MODELS,
    Agency,
    CaseText,
    Category,
    DraftEntry,
    ExampleQuestion,
    HelpLine,
    Label,
    RiskExample,
    Service,
    Situation,
    Translation,
)
from ieim.studio.models.fresh import ContentReview, LinkRun
from ieim.studio.models.work import Change, CheckRun, GoldenQuestion, GoldenRun, Proposal, Run

__all__ = [
    "DRAFT_MODELS",
    "Agency",
    "CaseText",
    "Category",
    "Change",
    "CheckRun",
    "ContentReview",
    "DraftEntry",
    "ExampleQuestion",
    "GoldenQuestion",
    "GoldenRun",
    "HelpLine",
    "Label",
    "LinkRun",
    "Proposal",
    "RiskExample",
    "Run",
    "Service",
    "Situation",
    "Translation",
]
