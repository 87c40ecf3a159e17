"""What keeps the draft up to date, and is no part of a release: owners, dates and link checks."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ieim.knowledge.bundles.columns import ID_LIMIT, LINK_LIMIT
from ieim.studio.models.work import Run


class ContentReview(models.Model):
    """The owner of an entry of the draft, the day by which they review it, and its source.

    ``table`` and ``entry`` are those of :class:`ieim.studio.models.Change`. ``reminded_at`` is when
    the owner was last reminded of ``review_by``.
    """

    table = models.CharField(max_length=16)
    entry = models.CharField(max_length=3 * ID_LIMIT + 20)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    review_by = models.DateField(null=True)
    source = models.CharField(max_length=LINK_LIMIT, blank=True)
    reminded_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["table", "entry"], name="content_review_once")
        ]

    def __str__(self) -> str:
        return f"{self.table} {self.entry}"

    @property
    def is_due(self) -> bool:
        return self.review_by is not None and self.review_by <= timezone.localdate()


class LinkRun(Run):
    """A check of every link of the draft and of the current release. A part is a link.

    ``faults`` (once DONE) is ``{link: {"outcome", "target", "failures"}}``: the address that it
    moved to, and how many runs in a row have found the same outcome.
    """

    class Outcome(models.TextChoices):
        """What is wrong with a link."""

        GONE = "gone", _("The page is gone")
        MOVED = "moved", _("The page has moved")
        CERTIFICATE = "certificate", _("The certificate is not valid")
        UNREACHABLE = "unreachable", _("The site did not answer twice in a row")
        FORBIDDEN = "forbidden", _("Citizens cannot open the address")

    faults = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"link run {self.pk}"
