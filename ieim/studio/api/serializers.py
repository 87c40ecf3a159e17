"""What the editors' resources take and give beside entries: releases, trials, answers, notices."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.api.reply_serializers import ReplySerializer
from conversations.api.serializers import ClosedSerializer, MessageField
from ieim.knowledge.bundles.columns import ID_LIMIT, TEXT_LIMIT
from ieim.pipeline.message.screen import MAX_CHARS
from ieim.studio.api.entry_serializers import TextField
from ieim.studio.models import GoldenRun, Proposal


class ReleaseSerializer(serializers.Serializer[Any]):
    """A release without its content."""

    number = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Lower-case hex over the canonical JSON (RFC 8785).")
    note = serializers.CharField()
    created_at = serializers.DateTimeField()
    current = serializers.BooleanField(help_text="Whether new turns are pinned to it.")


class ReleasesSerializer(serializers.Serializer[Any]):
    """All releases, newest first."""

    items = ReleaseSerializer(many=True)


class FullReleaseSerializer(ReleaseSerializer):
    """A release with its content, in the form of a bundle."""

    content = serializers.DictField()


class RemarkSerializer(serializers.Serializer[Any]):
    """What a check found."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(["error", "warning"])
    entry = serializers.CharField()
    sentence = serializers.CharField()


class GoldenRunSerializer(serializers.Serializer[Any]):
    """A run of the golden questions."""

    state = serializers.ChoiceField([state.value for state in GoldenRun.State])
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    losses = serializers.IntegerField(help_text="Questions that get worse, once it is done.")
    error = serializers.CharField()


class ProposalSerializer(serializers.Serializer[Any]):
    """A proposal: what shall be current."""

    id = serializers.IntegerField(source="pk")
    state = serializers.ChoiceField([state.value for state in Proposal.State])
    sha256 = serializers.CharField()
    note = serializers.CharField()
    checks = RemarkSerializer(many=True)
    base = serializers.IntegerField(source="base_id", allow_null=True)
    again = serializers.IntegerField(source="again_id", allow_null=True)
    release = serializers.IntegerField(source="release_id", allow_null=True)
    proposed_at = serializers.DateTimeField()
    proposed_by = serializers.CharField(source="proposed_by.username")
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)
    reason = serializers.CharField()
    golden_run = serializers.SerializerMethodField()

    @extend_schema_field(GoldenRunSerializer(allow_null=True))
    def get_golden_run(self, proposal: Proposal) -> Any:
        """Return the newest run of the golden questions, None before the first."""
        run = proposal.golden_runs.first()
        return None if run is None else GoldenRunSerializer(run).data


class ProposalsSerializer(serializers.Serializer[Any]):
    """The newest proposals, newest first."""

    items = ProposalSerializer(many=True)


class ProposeSerializer(ClosedSerializer):
    """What shall be proposed: the draft, or an earlier release again."""

    note = TextField(help_text="What changes, for other editors.")
    again = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)


class ReasonSerializer(ClosedSerializer):
    """Why."""

    reason = TextField(required=False, help_text=f"Up to {TEXT_LIMIT:,}.")


class TrySerializer(ClosedSerializer):
    """A question as a citizen would ask it."""

    text = MessageField(help_text=f"Up to {MAX_CHARS:,} characters (Unicode code points).")


class TriedFindingSerializer(serializers.Serializer[Any]):
    """One failed check."""

    code = serializers.CharField()
    path = serializers.CharField(help_text="JSON Pointer into the answer; empty for all of it.")
    message = serializers.CharField()


class CandidateSerializer(serializers.Serializer[Any]):
    """One line of a shortlist."""

    rank = serializers.IntegerField()
    score = serializers.FloatField()
    agency = serializers.CharField()
    key = serializers.CharField()
    name = serializers.CharField()
    cut = serializers.ChoiceField(
        ["", "limit", "budget"], help_text="Why no model was given it; empty where one was."
    )


class ShortlistSerializer(serializers.Serializer[Any]):
    """What the search found for a stage."""

    kind = serializers.ChoiceField(["agencies", "categories", "services"])
    candidates = CandidateSerializer(many=True)


class CallSerializer(serializers.Serializer[Any]):
    """One attempt."""

    given = serializers.CharField(help_text="The per-call JSON.")
    said = serializers.CharField(help_text="The answer, as text.")
    findings = TriedFindingSerializer(many=True)


class TriedStageSerializer(serializers.Serializer[Any]):
    """One stage."""

    contract = serializers.CharField()
    passed = serializers.BooleanField()
    tokens = serializers.IntegerField()
    findings = TriedFindingSerializer(many=True)
    shortlists = ShortlistSerializer(many=True)
    calls = CallSerializer(many=True)


class TrialSerializer(serializers.Serializer[Any]):
    """What came of a question on one side."""

    which = serializers.ChoiceField(["draft", "published"])
    ending = serializers.CharField(help_text="How it ended, as a sentence.")
    held = serializers.BooleanField(help_text="Whether a person would have to let it go out.")
    findings = TriedFindingSerializer(many=True)
    reply = ReplySerializer(allow_null=True)
    stages = TriedStageSerializer(many=True)


class TrialsSerializer(serializers.Serializer[Any]):
    """The draft first; alone where it is what is published, or nothing is."""

    sides = TrialSerializer(many=True)


class AnswersQuerySerializer(ClosedSerializer):
    """Which answers."""

    agency = serializers.RegexField(r"^[^\x00]+$", max_length=ID_LIMIT, trim_whitespace=False)
    key = serializers.RegexField(r"^[^\x00]+$", max_length=ID_LIMIT, trim_whitespace=False)
    version = serializers.RegexField(r"^[0-9a-f]{64}$", required=False)
    before = serializers.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, help_text="As `before` has it."
    )


class DifferenceSerializer(serializers.Serializer[Any]):
    """A field that changed."""

    field = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


class VersionSerializer(serializers.Serializer[Any]):
    """A version of a service: all releases with the same content of it."""

    sha256 = serializers.CharField()
    releases = serializers.ListField(child=serializers.IntegerField())
    answers = serializers.IntegerField()
    sessions = serializers.IntegerField()
    first = serializers.DateTimeField(allow_null=True)
    last = serializers.DateTimeField(allow_null=True)
    differences = DifferenceSerializer(many=True, allow_null=True)


class VersionsSerializer(serializers.Serializer[Any]):
    """The versions, the newest first."""

    items = VersionSerializer(many=True)


class AnswerSerializer(serializers.Serializer[Any]):
    """One answer; no word of the citizen's."""

    reference = serializers.CharField()
    turn = serializers.UUIDField()
    answered_at = serializers.DateTimeField()
    origin = serializers.CharField()
    language = serializers.CharField()
    version = serializers.CharField()
    corrected = serializers.BooleanField(help_text="Whether a correction notice was sent.")


class AnswersSerializer(serializers.Serializer[Any]):
    """A page of answers, the newest first."""

    items = AnswerSerializer(many=True)
    before = serializers.IntegerField(allow_null=True, help_text="For the next page.")


class DirectiveSerializer(ClosedSerializer):
    """A notice of an agency; blank is every agency. Without a start it begins at once."""

    id = serializers.IntegerField(source="pk", read_only=True)
    agency = TextField(required=False)
    text = TextField()
    starts_at = serializers.DateTimeField(required=False)
    ends_at = serializers.DateTimeField()


class DirectivesSerializer(serializers.Serializer[Any]):
    """Notices, those that end last first."""

    items = DirectiveSerializer(many=True)
