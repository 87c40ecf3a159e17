"""What an import and an export take and give."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conversations.api.serializers import (
    ClosedSerializer,
    FieldErrorSerializer,
    ProblemSerializer,
)
from ieim.knowledge.bundles.columns import ID_LIMIT
from ieim.knowledge.bundles.rows import TABLES
from ieim.studio.api.serializers import DifferenceSerializer
from ieim.studio.exchange.formats import formats_of

KINDS = [made.kind for made in formats_of(TABLES[0])]
"""The endings: csv, xlsx, yaml, json."""


def _agency(what: str) -> serializers.RegexField:
    return serializers.RegexField(
        r"^[^\x00]+$", required=False, max_length=ID_LIMIT, trim_whitespace=False, help_text=what
    )


class ExportQuerySerializer(ClosedSerializer):
    """Which file."""

    format = serializers.ChoiceField(KINDS)
    agency = _agency("One agency's entries alone. Labels belong to none.")


class ImportQuerySerializer(ClosedSerializer):
    """Whether to write."""

    confirm = serializers.RegexField(
        r"^[0-9a-f]{64}$",
        required=False,
        help_text="The `digest` of the preview. Without it nothing is written.",
    )


class StandardQuerySerializer(ImportQuerySerializer):
    """Whose file it is, and whether to write."""

    agency = _agency(
        "The agency that the file is for: only what is its own is taken. Needed by accounts of "
        "single agencies."
    )


class PlannedSerializer(serializers.Serializer[Any]):
    """What happens to an entry."""

    table = serializers.ChoiceField(list(TABLES))
    entry = serializers.CharField(help_text="Its natural id.")
    change = serializers.ChoiceField(["added", "changed"])
    differences = DifferenceSerializer(many=True)


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
