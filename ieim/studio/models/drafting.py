"""What a model drafts for editors, until somebody takes it into the draft."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ieim.knowledge.bundles.columns import ID_LIMIT
from ieim.studio.models.work import Run


class DraftingRun(Run):
    """Texts that a model is asked for, about one agency, category or service.

    ``language`` is that of a translation. ``seen`` is what the draft had when the model was asked:
    ``{"version": of the entry that is to change, None for a new one, "texts": {field: text}}``.
    ``result`` is ``{"fields": {field: text or list}}`` or ``{"questions": [{language, text}]}``
    once DONE, ``{"findings": [sentence]}`` once FAILED by the gate. ``tokens`` count all attempts.
    """

    class Kind(models.TextChoices):
        QUESTIONS = "questions", _("example questions")
        PLAIN = "plain", _("plain language")
        TRANSLATION = "translation", _("translation")

    kind = models.CharField(max_length=12, choices=Kind.choices)
    agency = models.CharField(max_length=ID_LIMIT)
    category = models.CharField(max_length=ID_LIMIT, blank=True)
    service = models.CharField(max_length=ID_LIMIT, blank=True)
    language = models.CharField(max_length=8, blank=True)
    seen = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    tokens = models.PositiveIntegerField(default=0)
    accepted_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    class Meta(Run.Meta):
        indexes = [models.Index(fields=["created_at"], name="drafting_day")]

    def __str__(self) -> str:
        return f"drafting run {self.pk}: {self.kind}"

    @property
    def owner(self) -> tuple[str, str, str]:
        """The agency, category and service; the last two may be ""."""
        return self.agency, self.category, self.service
