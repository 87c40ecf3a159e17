"""What the administration says to a message that asks nothing of it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from ieim.knowledge.bundles.columns import GUIDANCE_LIMIT, ID_LIMIT
from ieim.pipeline.knowledge import CASES
from ieim.studio.models.draft import DraftEntry
from ieim.studio.models.words import choices


class CaseText(DraftEntry):
    """The text of one case in one language; without it the text that is shipped is told."""

    table = "texts"

    case = models.CharField(
        max_length=ID_LIMIT,
        choices=choices(CASES),
        help_text=_("What the message is. Unclear is also what nothing else fits."),
    )
    language = models.CharField(max_length=8, help_text=_("ISO 639-1, such as fr."))
    text = models.TextField(
        max_length=GUIDANCE_LIMIT,
        help_text=_("Two or three short sentences: what people can ask here, and that they may."),
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["case", "language"], name="knowledge_case_text_once")
        ]

    def __str__(self) -> str:
        return f"{self.case} {self.language}"
