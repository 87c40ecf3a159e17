"""A reply and what stands around it as JSON: made from the page's own views."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from conversations.models import Reason, ReplyOrigin
from ieim.pipeline.message.identifiers import Kind

REASONS = Reason.values


class FactSerializer(serializers.Serializer[Any]):
    """A heading with one paragraph or several list items."""

    heading = serializers.CharField()
    items = serializers.ListField(child=serializers.CharField())
    ordered = serializers.BooleanField(help_text="Whether the items are steps in order.")
    language = serializers.CharField(help_text="ISO 639-1: the items'; empty: the reply's.")
    name = serializers.CharField(help_text="The field: `fees`, `agency_name`, `entity_<type>` …")
    folded = serializers.BooleanField(
        help_text="Whether it follows folded: what was asked about, or opens the reply, is not."
    )


class SourceSerializer(serializers.Serializer[Any]):
    """Where an answer comes from."""

    agency = serializers.CharField()
    service = serializers.CharField()
    url = serializers.CharField(help_text="Empty when there is no page to link to.")


class CardSerializer(serializers.Serializer[Any]):
    """One service of an answer over several agencies, as it stands in the service list."""

    title = serializers.CharField()
    lead = serializers.CharField(help_text="What to do first.")
    facts = FactSerializer(many=True)
    agency = serializers.CharField()
    url = serializers.CharField(help_text="Its page. Empty when there is none to link to.")
    languages = serializers.DictField(
        child=serializers.CharField(),
        help_text="The languages of title and lead; empty where it is the reply's.",
    )


class NoticeSerializer(serializers.Serializer[Any]):
    """What an agency wants everybody to know for a while, in its own words."""

    agency = serializers.CharField(help_text="Empty for every agency.")
    text = serializers.CharField()


class ReplySerializer(serializers.Serializer[Any]):
    """A reply that passed its gate. Parts that do not apply are empty."""

    kind = serializers.ChoiceField(choices=["service", "answer", "guidance", "question"])
    agency_notices = NoticeSerializer(many=True, help_text="To be shown above everything else.")
    title = serializers.CharField()
    lead = serializers.CharField(
        help_text="What to do first. Empty where the reply opens with a fact that was asked for."
    )
    paragraphs = serializers.ListField(child=serializers.CharField())
    facts = FactSerializer(many=True)
    cards = CardSerializer(
        many=True,
        help_text="The services of an answer over several agencies, in its order.",
    )
    uncovered = serializers.ListField(
        child=serializers.CharField(),
        help_text="The parts of the message, in its own words, that nothing here is about: say so.",
    )
    sources = SourceSerializer(many=True)
    why = serializers.CharField(
        help_text="Which marked words led to this answer. Empty where none are marked."
    )
    origin = serializers.ChoiceField(
        choices=[origin.value for origin in ReplyOrigin], help_text="Whose words these are."
    )
    offline = serializers.BooleanField(help_text="Whether the offline engine answered.")
    prepared = serializers.BooleanField(
        help_text=(
            "Whether no words are a model's: guidance that is a text of the administration's, or "
            "over several agencies what the service list says to do first."
        )
    )
    language = serializers.CharField(
        help_text="ISO 639-1: that of headings and other fixed words, and of the rest if not said."
    )
    languages = serializers.DictField(
        child=serializers.CharField(),
        help_text="The languages of title, lead and paragraphs; empty where it is the reply's.",
    )
    notice = serializers.CharField(
        help_text="What there is not in the citizen's language, as a sentence. Mostly empty."
    )
    still_about = serializers.CharField(
        help_text=(
            "The talk's service, by name, where the reply goes on with it although the message "
            "names none: show it first, with a way to say that it is something else. Mostly empty."
        )
    )


class IdentifierSerializer(serializers.Serializer[Any]):
    """An identity, card or account number in a message."""

    kind = serializers.ChoiceField(choices=list(get_args(Kind)))
    start = serializers.IntegerField(
        min_value=0, help_text="Where it begins in `text`, in Unicode code points."
    )
    end = serializers.IntegerField(min_value=1, help_text="Where it is over: the first one after.")


class FeedbackSerializer(serializers.Serializer[Any]):
    """What the citizen said of a reply beside their verdict."""

    reason = serializers.ChoiceField(choices=[*REASONS, ""], help_text="May be empty.")
    text = serializers.CharField(help_text="Without personal data. May be empty.")


class StepSerializer(serializers.Serializer[Any]):
    """One step of the work on a message."""

    words = serializers.CharField(help_text="The step in plain words.")
    status = serializers.ChoiceField(choices=["pending", "running", "done", "stopped"])


class CorrectionSerializer(serializers.Serializer[Any]):
    """What staff have since written of an answer that was wrong."""

    text = serializers.CharField()
    sent_at = serializers.DateTimeField()
    origin = serializers.ChoiceField(
        choices=[ReplyOrigin.STAFF.value], help_text="Whose words these are."
    )
