"""Web pages that entries are made from, and the runs that read them. No citizen's data."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ieim.knowledge.bundles.columns import ID_LIMIT, LINK_LIMIT
from ieim.studio.models.work import Run


class PageRun(Run):
    """Reading of pages, and of what they say, for the entries of one ``agency``. A part is a page.

    ``sitemap`` is one that is still to be read for addresses, and ``note`` says what of it was left
    out, and how many pages were unchanged. A run that ``is_paused`` stops after the page that it is
    at; it is DONE then, and its other pages wait. ``created_by`` is None for the weekly look, and
    for the command.
    """

    agency = models.CharField(max_length=ID_LIMIT)
    sitemap = models.CharField(max_length=LINK_LIMIT, blank=True)
    note = models.TextField(blank=True)
    is_paused = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    def __str__(self) -> str:
        return f"page run {self.pk}"


class WebPage(models.Model):
    """A page, what it said when it was last read, and the entry that it is for.

    ``run`` is the newest that is to read it, or has; while it ``is_due`` that is still to be done.
    ``address`` is its own, or the name of a saved page, whose ``body`` is here until it is read.
    ``text`` is that of :class:`ieim.studio.webpages.reading.Page`, ``sha256`` over its UTF-8
    and that of the lines of its data. ``draft`` is an answer of draft_entry_v1 with ``by``:
    "model", "headings", "data" or "person", ``tokens`` are what was used on the day of ``read_at``.
    ``problem`` says why it is FAILED, or could not be read again. Once it is TAKEN, ``table`` and
    ``entry`` are those of :class:`ieim.studio.models.Change`, and ``rests_on`` is
    ``{field: [quote]}``. ``changes`` is ``[[field, old passage, new passage]]``, once it is
    CHANGED.
    """

    class State(models.TextChoices):
        """What has become of a page."""

        WAITING = "waiting", _("to be read")
        READ = "read", _("to be drafted")
        DRAFTED = "drafted", _("drafted")
        TAKEN = "taken", _("taken")
        LEFT = "left", _("left")
        FAILED = "failed", _("failed")
        CHANGED = "changed", _("changed")
        GONE = "gone", _("gone")

    run = models.ForeignKey(PageRun, on_delete=models.PROTECT, related_name="pages")
    agency = models.CharField(max_length=ID_LIMIT)
    address = models.CharField(max_length=LINK_LIMIT)
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    is_due = models.BooleanField(default=False)
    body = models.BinaryField(default=bytes)
    problem = models.TextField(blank=True)
    title = models.TextField(blank=True)
    language = models.CharField(max_length=3, blank=True)
    text = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    etag = models.CharField(max_length=200, blank=True)
    last_modified = models.CharField(max_length=64, blank=True)
    read_at = models.DateTimeField(null=True)
    draft = models.JSONField(default=dict)
    tokens = models.PositiveIntegerField(default=0)
    table = models.CharField(max_length=16, blank=True)
    entry = models.CharField(max_length=3 * ID_LIMIT + 20, blank=True)
    rests_on = models.JSONField(default=dict)
    changes = models.JSONField(default=list)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["agency", "address"], name="page_once")]
        indexes = [
            models.Index(fields=["agency", "state"], name="page_of_agency"),
            models.Index(fields=["table", "entry"], name="page_of_entry"),
        ]

    def __str__(self) -> str:
        return self.address

    @property
    def key(self) -> str:
        """The key of the entry that it is for, the id of an agency; "" for none."""
        return self.entry.removeprefix(f"{self.agency} ")
