"""What editors keep beside the draft: golden questions, its history, proposals, and long work."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from ieim.audit.models import AppendOnlyModel
from ieim.knowledge.bundles.columns import ID_LIMIT
from ieim.knowledge.models import Release


class GoldenQuestion(models.Model):
    """A question whose right outcome a person confirmed: what a new release is tested on.

    ``case`` is an evaluation case (``ieim/studio/evaluation/cases.py``), its texts redacted;
    ``name`` is the case's id, so that the same decision makes one question.
    """

    name = models.CharField(max_length=200, unique=True)
    case = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-created_at", "name"]

    def __str__(self) -> str:
        return self.name


class Change(AppendOnlyModel):
    """One change of one entry of the draft: who, when, and what.

    ``entry`` is the natural id as in a bundle, its parts joined by a space; ``agency`` is empty for
    labels. ``fields`` is ``{column: [before, after]}``; None stands for an entry that was not there
    or is no more.
    """

    class Kind(models.TextChoices):
        ADDED = "added", _("added")
        CHANGED = "changed", _("changed")
        REMOVED = "removed", _("removed")

    class Source(models.TextChoices):
        ADMIN = "admin", _("by hand")
        FILE = "file", _("from a file")
        API = "api", _("over the API")
        BUNDLE = "bundle", _("from a bundle")

    table = models.CharField(max_length=16)
    entry = models.CharField(max_length=3 * ID_LIMIT + 20)
    agency = models.CharField(max_length=ID_LIMIT, blank=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    source = models.CharField(max_length=8, choices=Source.choices)
    fields = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["table", "entry", "-id"], name="change_of_entry")]

    def __str__(self) -> str:
        return f"{self.table} {self.entry}: {self.kind}"


class Proposal(models.Model):
    """A change set: entries of the draft that somebody changes, and proposes to be published.

    While it is a DRAFT, its ``entries`` are those of the draft that it is to change, and its author
    is ``proposed_by``. Once it is proposed, ``content`` is the release ``base`` with its entries as
    they were then, and stays so while editing goes on; another person publishes it or turns it
    down. ``checks`` is what the checks said when it was proposed. ``again`` is the release that a
    roll back goes to; then ``content`` is that release's. Where ``publish_at`` is set, it is
    published then, once a second person has agreed; at ``expires_at`` its entries become again what
    they were before.
    """

    class State(models.TextChoices):
        """Where a change set stands."""

        DRAFT = "draft", _("being edited")
        OPEN = "open", _("waits for a second person")
        SCHEDULED = "scheduled", _("will be published")
        PUBLISHED = "published", _("published")
        REFUSED = "refused", _("turned down")
        WITHDRAWN = "withdrawn", _("withdrawn by its author")

    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFT)
    content = models.JSONField(default=dict)
    sha256 = models.CharField("SHA-256", max_length=64, blank=True)
    note = models.TextField(help_text=_("What changes, for other editors."))
    checks = models.JSONField(default=list)
    base = models.ForeignKey(
        Release, null=True, on_delete=models.PROTECT, related_name="+", help_text=_("Current then.")
    )
    again = models.ForeignKey(Release, null=True, on_delete=models.PROTECT, related_name="+")
    release = models.ForeignKey(
        Release, null=True, on_delete=models.PROTECT, related_name="proposals"
    )
    proposed_at = models.DateTimeField(default=timezone.now, help_text=_("Of a draft: begun at."))
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.TextField(
        blank=True, help_text=_("Why it was turned down, or published although answers get worse.")
    )
    publish_at = models.DateTimeField(null=True, help_text=_("Blank: as soon as it is decided."))
    expires_at = models.DateTimeField(null=True, help_text=_("Blank: it stays."))

    class Meta:
        ordering = ["-id"]
        permissions = [("publish_proposal", "Can publish what somebody else proposed")]

    def __str__(self) -> str:
        return f"proposal {self.pk}"


class ChangedEntry(models.Model):
    """What a change set in the state DRAFT is to change of an entry of the draft.

    ``table``, ``entry`` and ``agency`` are as in :class:`Change`. ``columns`` are those of the
    table, each in one set alone, or "*" for the entry as a whole, which is new or removed.
    """

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="entries")
    table = models.CharField(max_length=16)
    entry = models.CharField(max_length=3 * ID_LIMIT + 20)
    agency = models.CharField(max_length=ID_LIMIT, blank=True)
    # Software that knows no columns means the entry as a whole.
    columns = models.JSONField(default=list, db_default=models.Value(["*"], models.JSONField()))

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["table", "entry"], name="changed_entry")]

    def __str__(self) -> str:
        return f"{self.table} {self.entry} of {self.proposal_id}"


class Comment(models.Model):
    """What editors say to each other about a change set."""

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="comments")
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"comment {self.pk} on {self.proposal_id}"


class Run(models.Model):
    """Long work that a worker does; :mod:`ieim.studio.runs` notices a killed one.

    ``done`` of ``total`` parts are done; ``error`` says why it FAILED.
    """

    class State(models.TextChoices):
        """Where a run stands."""

        QUEUED = "queued", _("waits for a worker")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True
        ordering = ["-id"]


class GoldenRun(Run):
    """The golden questions asked of a proposal and of the release that it would replace.

    A part is a turn. ``result`` (once DONE) is written and read by ``ieim/studio/trying``;
    ``losses`` counts the questions that get worse.
    """

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="golden_runs")
    losses = models.PositiveIntegerField(default=0)
    result = models.JSONField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    def __str__(self) -> str:
        return f"golden run {self.pk} of proposal {self.proposal_id}"


class CheckRun(Run):
    """The checks of one state of a large draft that take a while: those that ask the search.

    ``sha256`` is what a release of that state would have. A part is a search; ``total`` is 0 while
    the index is built. ``remarks`` (once DONE) are what ``asdict`` gives of each Remark.
    """

    sha256 = models.CharField("SHA-256", max_length=64, unique=True)
    remarks = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"checks of the draft {self.sha256[:12]}"
