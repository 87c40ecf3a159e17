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
from ieim.studio.models.drafting import DraftingRun
from ieim.studio.models.fresh import ContentReview, LinkRun
from ieim.studio.models.gaps import Gap, GapAction, GapGroup
from ieim.studio.models.webpages import PageRun, WebPage
from ieim.studio.models.work import (
    Change,
    ChangedEntry,
    CheckRun,
    Comment,
    GoldenQuestion,
    GoldenRun,
    Proposal,
    Run,
)

__all__ = [
    "DRAFT_MODELS",
    "Agency",
    "CaseText",
    "Category",
    "Change",
    "ChangedEntry",
    "CheckRun",
    "Comment",
    "ContentReview",
    "DraftEntry",
    "DraftingRun",
    "ExampleQuestion",
    "Gap",
    "GapAction",
    "GapGroup",
    "GoldenQuestion",
    "GoldenRun",
    "HelpLine",
    "Label",
    "LinkRun",
    "PageRun",
    "Proposal",
    "RiskExample",
    "Run",
    "Service",
    "Situation",
    "Translation",
    "WebPage",
]
