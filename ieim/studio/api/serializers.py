"""What the editors' resources take and give."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from conversations.api.bodies import LONGEST, ClosedSerializer, ExactTextField, MessageField
from conversations.api.serializers import FieldErrorSerializer, ProblemSerializer, ReplySerializer
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.columns import COLUMNS, EXAMPLE_LIMIT, ID_LIMIT, TEXT_LIMIT
from ieim.knowledge.bundles.formats import LIST_COLUMNS, NUMBER_COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Table
from ieim.knowledge.following import effective_by
from ieim.knowledge.models import Release
from ieim.knowledge.selectors import Published
from ieim.pipeline.message.screen import MAX_CHARS
from ieim.studio.exchange.files import MEDIA_TYPES
from ieim.studio.gaps.selectors import EXAMPLES, NOBODY, STATES
from ieim.studio.models import Gap, GapAction, GoldenRun, Proposal

MOST_ITEMS = 1_000
"""Items of a list, whatever its column takes."""

# The parser takes no NUL anywhere, so that is part of the shape.
_TEXT = {"type": "string", "maxLength": LONGEST, "pattern": r"^[^\u0000]*$"}


GAP_ACTIONS = GapAction.Kind.values
DICTIONARY_ACTIONS = ["move", "merge", "split"]


@extend_schema_field(_TEXT)
class TextField(ExactTextField):
    """A text of the knowledge; what it may hold is the rules' to say (422)."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        return "" if data == "" else super().run_validation(data)


def _id(limit: int = ID_LIMIT, **options: Any) -> serializers.RegexField:
    return serializers.RegexField(r"^[^\x00]+$", max_length=limit, trim_whitespace=False, **options)


def _column(name: str) -> serializers.Field[Any, Any, Any, Any]:
    if name in LIST_COLUMNS:
        return serializers.ListField(child=TextField(), required=False, max_length=MOST_ITEMS)
    if name in NUMBER_COLUMNS:
        return serializers.DecimalField(
            3, 2, min_value=0, max_value=1, required=False, allow_null=True
        )
    return TextField(required=False)


def _entry(table: Table) -> type[ClosedSerializer]:
    """Return the serializer of an entry: its columns, without those that address it, and more.

    A body has the columns alone; what is left out stays as it is, or blank in a new entry.
    """
    fields: dict[str, Any] = {name: _column(name) for name in COLUMNS[table]}
    for name in IDENTITY[table]:
        fields[name] = serializers.CharField(read_only=True)
    fields["version"] = serializers.IntegerField(read_only=True, help_text="What the ETag says.")
    name = f"{_one(table)}EntrySerializer"
    return type(name, (ClosedSerializer,), {**fields, "__doc__": f"One entry of {table}."})


def _one(table: Table) -> str:
    names = {"agencies": "Agency", "dictionary": "Dictionary", "services": "Service"}
    return names.get(table, table.removesuffix("s").title().replace("_", ""))


def _items(
    name: str, item: type[serializers.Serializer[Any]], doc: str, **fields: Any
) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a list of ``item``."""
    attributes = {"items": item(many=True), **fields, "__doc__": doc}
    serializer = type(f"{name}Serializer", (serializers.Serializer,), attributes)
    # Not an item of a list: the list itself.
    return extend_schema_serializer(many=False)(serializer)


def _page(table: Table) -> type[serializers.Serializer[Any]]:
    following = serializers.CharField(allow_null=True, help_text="Where the next page is.")
    return _items(f"{_one(table)}Page", ENTRIES[table], f"A page of {table}.", next=following)


def _address(table: Table) -> type[ClosedSerializer]:
    """Return the serializer of an entry's address: the columns of its natural id."""
    columns = COLUMNS[table]
    fields = {n: _id(EXAMPLE_LIMIT, required=columns[n].is_required()) for n in IDENTITY[table]}
    return type(f"{_one(table)}AddressSerializer", (ClosedSerializer,), fields)


ENTRIES: Mapping[Table, type[ClosedSerializer]] = {table: _entry(table) for table in TABLES}
PAGES: Mapping[Table, type[serializers.Serializer[Any]]] = {t: _page(t) for t in TABLES}
ADDRESSES: Mapping[Table, type[ClosedSerializer]] = {table: _address(table) for table in TABLES}


class ListQuerySerializer(ClosedSerializer):
    """The address of a list."""

    agency = _id(required=False)
    q = serializers.RegexField(
        r"^[^\x00]+$", required=False, max_length=200, help_text="Words in its id or its name."
    )
    after = serializers.RegexField(
        r"^[^\x00]+$", required=False, max_length=ID_LIMIT, help_text="As `next` has it."
    )


class ReleaseSerializer(serializers.Serializer[Any]):
    """A release without its content."""

    number = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Lower-case hex over the canonical JSON (RFC 8785).")
    note = serializers.CharField()
    created_at = serializers.DateTimeField()
    current = serializers.SerializerMethodField(
        help_text="Whether it is the newest that was published."
    )
    effective_by = serializers.SerializerMethodField(
        help_text="When every process answers new questions from it: until then some may still "
        "take the release before, while this one is made ready. null where it is not current.",
    )

    @cached_property
    def _newest(self) -> Published | None:
        return knowledge.newest()

    def get_current(self, release: Release) -> bool:
        return self._newest is not None and self._newest.number == release.number

    def get_effective_by(self, release: Release) -> datetime | None:
        if self._newest is None or self._newest.number != release.number:
            return None
        return effective_by(self._newest)


ReleasesSerializer = _items("Releases", ReleaseSerializer, "All releases, newest first.")


class FullReleaseSerializer(ReleaseSerializer):
    """A release with its content, in the form of a bundle."""

    content = serializers.DictField()


class RemarkSerializer(serializers.Serializer[Any]):
    """What a check found."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(["error", "warning"])
    entry = serializers.CharField()
    sentence = serializers.CharField()


class GoldenRunSerializer(serializers.ModelSerializer[GoldenRun]):
    """A run of the golden questions."""

    class Meta:
        model = GoldenRun
        fields = read_only_fields = ("state", "done", "total", "losses", "error")
        extra_kwargs = {"losses": {"help_text": "Questions that get worse, once it is done."}}


class ProposalSerializer(serializers.ModelSerializer[Proposal]):
    """A proposal: what shall be current."""

    checks = RemarkSerializer(many=True)
    proposed_by = serializers.CharField(source="proposed_by.username")
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)
    golden_run = serializers.SerializerMethodField()

    class Meta:
        model = Proposal
        fields = read_only_fields = (
            *("id", "state", "sha256", "note", "checks", "base", "again", "release"),
            *("proposed_at", "proposed_by", "decided_at", "decided_by", "reason", "golden_run"),
            *("publish_at", "expires_at"),
        )

    @extend_schema_field(GoldenRunSerializer(allow_null=True))
    def get_golden_run(self, proposal: Proposal) -> Any:
        runs = proposal.golden_runs.all()  # newest first; the view prefetches them
        return GoldenRunSerializer(runs[0]).data if runs else None


ProposalsSerializer = _items("Proposals", ProposalSerializer, "The newest proposals, newest first.")


class ProposeSerializer(ClosedSerializer):
    """What shall be proposed: your change set, or an earlier release again."""

    note = TextField(help_text="What changes, for other editors.")
    set = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="A proposal in the state draft; without it, the one that you work on.",
    )
    publish_at = serializers.DateTimeField(required=False, help_text="Not before that.")
    expires_at = serializers.DateTimeField(
        required=False, help_text="Its entries are then what they were before."
    )
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
    probability = serializers.FloatField(help_text="From 0 to 1, that it is right.")
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
    findings = TriedFindingSerializer(many=True, source="record.judgement.findings")


class TriedStageSerializer(serializers.Serializer[Any]):
    """One stage."""

    contract = serializers.CharField()
    passed = serializers.BooleanField()
    fallback = serializers.BooleanField(help_text="Whether prepared words answer for it.")
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
    untrained = serializers.BooleanField(
        help_text="Whether a worker is still training with the release's examples of danger: until "
        "it has, others decide which help lines show."
    )


class TrialsSerializer(serializers.Serializer[Any]):
    """The draft first; alone where it is what is published, or nothing is."""

    sides = TrialSerializer(many=True)


class AnswersQuerySerializer(ClosedSerializer):
    """Which answers."""

    agency = _id()
    key = _id()
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


VersionsSerializer = _items("Versions", VersionSerializer, "The versions, the newest first.")


class AnswerSerializer(serializers.Serializer[Any]):
    """One answer; no word of the citizen's."""

    reference = serializers.CharField(source="reply.turn.session.reference")
    turn = serializers.UUIDField(source="reply.turn_id")
    answered_at = serializers.DateTimeField(source="reply.created_at")
    origin = serializers.CharField(source="reply.origin")
    language = serializers.CharField(source="reply.turn.language")
    version = serializers.CharField(source="service_sha256")
    corrected = serializers.BooleanField(help_text="Whether a correction notice was sent.")


AnswersSerializer = _items(
    "Answers",
    AnswerSerializer,
    "A page of answers, the newest first.",
    before=serializers.IntegerField(allow_null=True, help_text="For the next page."),
)


class DirectiveSerializer(ClosedSerializer):
    """A notice of an agency; blank is every agency. Without a start it begins at once."""

    id = serializers.IntegerField(source="pk", read_only=True)
    agency = TextField(required=False)
    text = TextField()
    starts_at = serializers.DateTimeField(required=False)
    ends_at = serializers.DateTimeField()
    model_only = serializers.BooleanField(
        required=False, help_text="Told to the model, and not shown to citizens."
    )


DirectivesSerializer = _items(
    "Directives", DirectiveSerializer, "Notices, those that end last first."
)


class GapsQuerySerializer(ClosedSerializer):
    """Which groups; what is left out leaves nothing out."""

    agency = _id(required=False, help_text=f"`{NOBODY}` for the groups of no agency.")
    language = serializers.RegexField(r"^[a-z]{2,3}$", required=False)
    outcome = serializers.ChoiceField(Gap.Outcome.values, required=False)
    week = serializers.DateField(required=False, help_text="The Monday with which it begins.")
    state = serializers.ChoiceField(
        [state for state in STATES if state],
        required=False,
        help_text="What was done about them; without it, those to do.",
    )
    page = serializers.IntegerField(
        required=False, min_value=1, max_value=100_000, help_text="As `next` has it."
    )


class GapExampleSerializer(serializers.ModelSerializer[Gap]):
    """A question, without personal data."""

    class Meta:
        model = Gap
        fields = read_only_fields = ("text", "outcome", "asked_at")


class GapActionSerializer(serializers.ModelSerializer[GapAction]):
    """What somebody did about a group."""

    action = serializers.ChoiceField(GAP_ACTIONS, source="kind")
    by = serializers.CharField(source="by.username")

    class Meta:
        model = GapAction
        fields = read_only_fields = ("action", "target", "reason", "at", "by")
        extra_kwargs = {
            "target": {"help_text": "`agency/key` of a service, the key of a situation, or empty."}
        }


class GapGroupSerializer(serializers.Serializer[Any]):
    """Questions that mean much the same."""

    id = serializers.IntegerField(source="group.pk")
    agency = serializers.CharField(
        source="group.agency", help_text="Empty where likely no service is about them."
    )
    language = serializers.CharField(source="group.language")
    number = serializers.IntegerField(
        source="group.number", help_text="Questions that fit the query."
    )
    total = serializers.IntegerField()
    outcomes = serializers.DictField(
        child=serializers.IntegerField(), help_text="How many questions ended in which way."
    )
    examples = GapExampleSerializer(many=True, help_text=f"The first {EXAMPLES}.")
    release = serializers.IntegerField(
        source="group.release_number",
        allow_null=True,
        help_text="By the search over it `would_answer` and `would_ask` were counted.",
    )
    would_answer = serializers.IntegerField(source="group.would_answer")
    would_ask = serializers.IntegerField(source="group.would_ask")
    actions = GapActionSerializer(many=True)


GapGroupsSerializer = _items(
    "GapGroups",
    GapGroupSerializer,
    "A page of groups.",
    next=serializers.IntegerField(allow_null=True, help_text="The number of the next page."),
)


class HandleGapSerializer(ClosedSerializer):
    """What to do about a group."""

    action = serializers.ChoiceField(GAP_ACTIONS)
    text = TextField(required=False, help_text="The question, in words of your own.")
    service = ADDRESSES["services"](required=False)
    situation = _id(required=False)
    reason = _id(500, required=False)


KINDS = list(MEDIA_TYPES)
"""The endings: csv, xlsx, yaml, json."""


class ExportQuerySerializer(ClosedSerializer):
    """Which file."""

    format = serializers.ChoiceField(KINDS)
    agency = _id(required=False, help_text="One agency's entries alone. Labels belong to none.")


class ImportQuerySerializer(ClosedSerializer):
    """Whether to write."""

    confirm = serializers.RegexField(
        r"^[0-9a-f]{64}$",
        required=False,
        help_text="The `digest` of the preview. Without it nothing is written.",
    )
    take = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST),
        required=False,
        max_length=MOST_ITEMS,
        help_text="Of what people changed or removed since the last import, what to write all the "
        "same, as `take` of the preview names it; an empty one is none of it. Without it all is "
        "written.",
    )


class StandardQuerySerializer(ImportQuerySerializer):
    """Whose file it is, and whether to write."""

    agency = _id(
        required=False,
        help_text="The agency that the file is for: only what is its own is taken. Needed by "
        "accounts of single agencies.",
    )


class EditSerializer(serializers.Serializer[Any]):
    """Who changed or removed something of the draft, and when."""

    by = serializers.CharField(source="by.username", default=None, allow_null=True)
    at = serializers.DateTimeField()


class PlannedDifferenceSerializer(DifferenceSerializer):
    """A field that changes; with ``edit``, one that a person changed since the last import."""

    take = serializers.CharField()
    edit = EditSerializer(allow_null=True)


class PlannedSerializer(serializers.Serializer[Any]):
    """What happens to an entry; with ``removal``, to one that a person removed."""

    table = serializers.ChoiceField(list(TABLES))
    entry = serializers.CharField(help_text="Its natural id.")
    change = serializers.ChoiceField(["added", "changed"])
    differences = PlannedDifferenceSerializer(many=True)
    take = serializers.CharField(help_text="What names it in the query, where it was removed.")
    removal = EditSerializer(allow_null=True)


class AgencyQuerySerializer(ClosedSerializer):
    """Whose dictionary."""

    agency = _id()


class DictionaryChangeSerializer(ClosedSerializer):
    """What becomes of the categories of an agency."""

    action = serializers.ChoiceField(DICTIONARY_ACTIONS)
    category = _id(
        required=False,
        help_text="What is merged or split, or what the services leave, if they leave any.",
    )
    into = _id(
        required=False,
        help_text="The category that services or another one move to; of a split, the new one's "
        "key, which is made of its name where it is left out.",
    )
    services = serializers.ListField(
        child=_id(), required=False, max_length=MOST_ITEMS, help_text="Keys, to move or split off."
    )
    value = TextField(required=False, help_text="The name of the category that a split makes.")
    keywords = serializers.ListField(
        child=TextField(), required=False, max_length=MOST_ITEMS, help_text="To split off."
    )

    _fields_of = {  # needed, and possible
        "move": ({"into", "services"}, {"category"}),
        "merge": ({"category", "into"}, set()),
        "split": ({"category", "value", "services"}, {"into", "keywords"}),
    }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        needed, possible = self._fields_of[attrs["action"]]
        missing = dict.fromkeys(needed - attrs.keys(), "This action needs it.")
        surplus = attrs.keys() - needed - possible - {"action"}
        wrong = {**missing, **dict.fromkeys(surplus, "This action does not take it.")}
        if wrong:
            raise serializers.ValidationError(wrong)
        return attrs


class NoteSerializer(serializers.Serializer[Any]):
    """A kind of value that has no place in the draft, or another form."""

    what = serializers.ChoiceField(["left out", "changed"])
    pattern = serializers.CharField(help_text="JSON Pointer into the file; `*` is any place.")
    first = serializers.CharField(help_text="JSON Pointer to the first of them.")
    times = serializers.IntegerField()
    why = serializers.CharField()


class ImportSerializer(serializers.Serializer[Any]):
    """What a file would change, or has changed. Nothing is ever removed."""

    written = serializers.BooleanField()
    digest = serializers.CharField(help_text="Of the file and of the entries it is about.")
    added = serializers.IntegerField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    entries = PlannedSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())
    notes = NoteSerializer(many=True, help_text="Of a standard: what could not be mapped.")


class FileErrorSerializer(FieldErrorSerializer):
    """What is wrong with a file, and where."""

    pointer = serializers.CharField(help_text="JSON Pointer into a standard's file, or empty.")
    place = serializers.CharField(required=False, help_text="Which sheet of a workbook.")
    line = serializers.IntegerField(required=False, help_text="Counted from 1.")


class FileProblemSerializer(ProblemSerializer):
    """A file that cannot be used: every reason."""

    errors = FileErrorSerializer(many=True, required=False)
