"""What the API gives, as JSON: made from the page's own views, so both show the same."""

from __future__ import annotations

from typing import Any, get_args

from django.utils.translation import gettext as _
from rest_framework import serializers

from conversations.chat.reply_views import HANDS
from conversations.mail.selectors import STATES as MAIL_STATES
from conversations.models import Reason, ReplyOrigin
from conversations.person.models import LineKind, RequestState, Way
from conversations.states import TurnState
from conversations.turns.choosing import Reason as AskedFor
from conversations.webhooks.models import Event
from ieim.pipeline.message.identifiers import Kind

REASONS, REQUEST_STATES, EVENTS = Reason.values, RequestState.values, Event.values
AI_NOTICE = (
    "That an automated assistant (AI) answers, in the language of `Accept-Language`: to be shown "
    "before the first message. The EU's AI Act asks for that in its Article 50."
)
READ_ON = "The day on which that page said it; null where the service's entry names none."
REFERENCE = "To say on the telephone, like K7M-4QX9."


def ai_notice() -> str:
    """Return the sentences that a page shows to who begins, in the page's language."""
    return _(
        "You are writing to an automated assistant (AI). It finds the right agency and what to do "
        "first; what it is not sure of goes to a person."
    )


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
    read_on = serializers.DateField(allow_null=True, help_text=READ_ON)


class CardSerializer(serializers.Serializer[Any]):
    """One service of an answer over several agencies, as it stands in the service list."""

    title = serializers.CharField()
    lead = serializers.CharField(help_text="What to do first.")
    facts = FactSerializer(many=True)
    reference = serializers.CharField(help_text="Names the service in the release: agency/key.")
    deadline = serializers.CharField(
        help_text="Within which time it has to be asked for, in words. Mostly empty."
    )
    agency = serializers.CharField()
    url = serializers.CharField(help_text="Its page. Empty when there is none to link to.")
    read_on = serializers.DateField(allow_null=True, help_text=READ_ON)
    languages = serializers.DictField(
        child=serializers.CharField(),
        help_text="The languages of title and lead; empty where it is the reply's.",
    )


class StepOfSituationSerializer(serializers.Serializer[Any]):
    """A service of a situation."""

    condition = serializers.CharField(help_text="For whom it is. Empty for everybody.")
    card = CardSerializer()


class SituationSerializer(serializers.Serializer[Any]):
    """A life or business event, and the services that it leads to."""

    key = serializers.CharField()
    name = serializers.CharField()
    language = serializers.CharField(
        help_text="ISO 639-1: that of name and conditions; empty: the reply's."
    )
    open = serializers.BooleanField(
        source="is_open",
        help_text="Whether the message surely tells of it: show the list then. Else fold it.",
    )
    services = StepOfSituationSerializer(
        source="steps", many=True, help_text="In the order to see to them."
    )


class NoticeSerializer(serializers.Serializer[Any]):
    """What an agency wants everybody to know for a while, in its own words."""

    agency = serializers.CharField(help_text="Empty for every agency.")
    text = serializers.CharField()


class ProvenanceSerializer(serializers.Serializer[Any]):
    """Where an answer comes from, as a machine reads it."""

    model = serializers.CharField(
        help_text="The model that was asked, by the name that the operator gave it; `ieim-offline` "
        "is the offline engine. Empty where none was: a person wrote it."
    )
    release = serializers.IntegerField(
        min_value=0, help_text="The number of the release of the knowledge that it is from."
    )
    person = serializers.ChoiceField(
        source="hand",
        choices=["none", *HANDS.values()],
        help_text="What a person had to do with it before it went out.",
    )


class ReplySerializer(serializers.Serializer[Any]):
    """A reply that passed its gate. Parts that do not apply are empty."""

    kind = serializers.ChoiceField(choices=["service", "answer", "guidance", "question", "outside"])
    agency_notices = NoticeSerializer(many=True, help_text="To be shown above everything else.")
    title = serializers.CharField()
    lead = serializers.CharField(
        help_text="What to do first. Empty where the reply opens with a fact that was asked for."
    )
    paragraphs = serializers.ListField(child=serializers.CharField())
    facts = FactSerializer(many=True)
    cards = CardSerializer(
        many=True,
        help_text="The services of an answer over several: what presses first stands first.",
    )
    uncovered = serializers.ListField(
        child=serializers.CharField(),
        help_text="The parts of the message, in its own words, that nothing here is about: say so.",
    )
    unanswered = serializers.ListField(
        child=serializers.CharField(),
        help_text="The agencies, by name, in which nothing fits the message: say so. Mostly empty.",
    )
    unsaid = serializers.BooleanField(
        help_text="Whether what was asked stands nowhere in the service's entry: say so."
    )
    next_services = SourceSerializer(
        many=True,
        help_text="Services that the entry sends on to: offer each, to be asked about by name.",
    )
    situation = SituationSerializer(
        allow_null=True,
        help_text="The checklist of the situation that the message tells of, or that the answer is "
        "part of; null for none.",
    )
    deadline = serializers.CharField(
        help_text="Within which time the service has to be asked for, in words. Mostly empty."
    )
    sources = SourceSerializer(many=True)
    why = serializers.CharField(
        help_text="Which marked words led to this answer. Empty where none are marked."
    )
    origin = serializers.ChoiceField(
        choices=[origin.value for origin in ReplyOrigin], help_text="Whose words these are."
    )
    provenance = ProvenanceSerializer(source="*")
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


class OptionSerializer(serializers.Serializer[Any]):
    """A service, or a situation with its checklist, that the citizen may choose."""

    number = serializers.IntegerField(min_value=1)
    agency = serializers.CharField(help_text="The agency's id; empty for a situation.")
    service = serializers.CharField(help_text="The service's key; `situation.` and a situation's.")
    name = serializers.CharField()
    agency_name = serializers.CharField(help_text="Empty for a situation.")
    language = serializers.CharField(help_text="ISO 639-1: its own; empty: that of the options.")
    line = serializers.CharField(help_text="What it is, in a sentence. May be empty.")


class ChoiceSerializer(serializers.Serializer[Any]):
    """What the citizen is asked: which of these services they mean."""

    options = OptionSerializer(many=True)
    several = serializers.BooleanField(help_text="Whether more than one may be chosen.")
    until = serializers.DateTimeField(help_text="Without a choice until then, a person answers.")
    reason = serializers.ChoiceField(
        choices=list(get_args(AskedFor)),
        help_text="Why they are asked: the assistant is not sure; what it found or what the search "
        "found may be meant, the first two of the options; or it lacks their language.",
    )
    language = serializers.CharField(help_text="ISO 639-1: that of the options.")
    notice = serializers.CharField(
        help_text="That the options are not in the citizen's language, and which one the message "
        "was read in. Mostly empty."
    )


class RequestSerializer(serializers.Serializer[Any]):
    """That this message asks for a person. How to reach the citizen is never told."""

    state = serializers.ChoiceField(choices=REQUEST_STATES)
    way = serializers.ChoiceField(choices=Way.values)
    about = serializers.IntegerField(
        allow_null=True, help_text="The number of the turn that it is about; null for none."
    )
    wanted_from = serializers.DateTimeField(
        allow_null=True, help_text="From when a call is wanted; null for any time."
    )
    wanted_until = serializers.DateTimeField(allow_null=True, help_text="Until when.")


class LineSerializer(serializers.Serializer[Any]):
    """What a caseworker put into the conversation, after this message."""

    kind = serializers.ChoiceField(
        choices=LineKind.values,
        help_text=(
            "`joined`: a person answers from here on, and the assistant is silent. `said`: they "
            "wrote `text`. `left`: they have left, and the assistant answers questions again."
        ),
    )
    text = serializers.CharField(help_text="Of `said` alone; empty otherwise.")
    cards = CardSerializer(
        many=True, source="reply.cards", default=(), help_text="The services sent with the words."
    )
    at = serializers.DateTimeField()
    read = serializers.BooleanField(
        help_text=(
            "Of `left`: when they left, a message of danger still waited for a person, who also "
            "reads what is written from here on. It stays as it was then."
        )
    )


class TurnSerializer(serializers.Serializer[Any]):
    """One message and what came of it so far."""

    id = serializers.UUIDField()
    number = serializers.IntegerField(min_value=1, help_text="Its place in the session, from 1.")
    text = serializers.CharField(help_text="The message as it was sent.")
    asked_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=[state.value for state in TurnState])
    longer = serializers.BooleanField(
        help_text="Whether the answer takes longer than usual at the moment."
    )
    contacts = serializers.ListField(
        source="contact_texts",
        child=serializers.CharField(),
        help_text="What the citizen has to see at once, before anything else. Mostly empty.",
    )
    contacts_below = serializers.BooleanField(
        help_text="Whether `contacts` stand for a weak sign in which a model saw no danger: show "
        "them below the reply then."
    )
    opening = serializers.CharField(
        source="opening.text",
        default="",
        help_text="A sentence of the administration's to somebody in a hard situation, such as "
        "after a death: show it before what came of the message. Mostly empty.",
    )
    said_safe = serializers.BooleanField(
        help_text="Whether the citizen said that they are safe: fold `contacts` then."
    )
    steps = StepSerializer(many=True)
    choice = ChoiceSerializer(
        allow_null=True, help_text="What the citizen has to choose from; null for nothing."
    )
    may_help = CardSerializer(
        many=True,
        help_text="While a person is waited for: up to three services that the search found. Not "
        "the answer: say so. Their `lead` is empty.",
    )
    reply = ReplySerializer(allow_null=True, help_text="Null until a reply has passed its gate.")
    useful = serializers.BooleanField(
        allow_null=True, help_text="What the citizen said of the reply; null while nothing was."
    )
    ticked = serializers.ListField(
        child=serializers.CharField(),
        help_text="The `reference` of each of the reply's cards that the citizen has seen to.",
    )
    feedback = FeedbackSerializer(
        allow_null=True, help_text="Why, where the citizen said so; mostly null."
    )
    replaces = serializers.UUIDField(
        allow_null=True, help_text="The turn whose answer was about something else; mostly null."
    )
    replaced_by = serializers.UUIDField(
        allow_null=True, help_text="The turn that asks again, where this answer was not meant."
    )
    corrections = CorrectionSerializer(
        many=True, help_text="To be shown beneath the reply, the first one first. Mostly empty."
    )
    person = RequestSerializer(
        allow_null=True, help_text="That this message asks for a person; mostly null."
    )
    lines = LineSerializer(
        many=True,
        help_text="What a caseworker wrote after this message, the first one first. Mostly empty.",
    )
    mail = serializers.ChoiceField(
        choices=MAIL_STATES,
        help_text="Whether the citizen is told by e-mail: `none` where there is no such thing "
        "to ask for, `offered` where there is, `asked` until the address is confirmed, "
        "`confirmed` until the answer is there; `expired`, `refused` or `unreachable` where "
        "that came to nothing, and may be asked for anew.",
    )


class SessionSerializer(serializers.Serializer[Any]):
    """A conversation."""

    id = serializers.UUIDField()
    reference = serializers.CharField(help_text=REFERENCE)
    created_at = serializers.DateTimeField()
    turns = TurnSerializer(many=True, help_text="The first one first.")


class NewSessionSerializer(serializers.Serializer[Any]):
    """A conversation that was just made."""

    id = serializers.UUIDField()
    reference = serializers.CharField(help_text=REFERENCE)
    token = serializers.CharField(
        help_text="The bearer token of this session. It is told here and never again."
    )
    link = serializers.URLField(
        help_text="The citizen’s private link to this session’s page. It is told here only, too."
    )
    notice = serializers.CharField(help_text=AI_NOTICE)


class TimeSerializer(serializers.Serializer[Any]):
    """A time for which a call can be wanted."""

    value = serializers.CharField()
    begins = serializers.DateTimeField()
    ends = serializers.DateTimeField()


class OpeningSerializer(serializers.Serializer[Any]):
    """When people can be reached, as of now."""

    open = serializers.BooleanField()
    opens = serializers.DateTimeField(
        allow_null=True,
        help_text="Of today, or of the next day that is open; null where none is in sight.",
    )
    closes = serializers.DateTimeField(allow_null=True, help_text="Likewise.")
    times = TimeSerializer(many=True)


class EventDataSerializer(serializers.Serializer[Any]):
    """What an event is about."""

    session = serializers.UUIDField()
    turn = serializers.UUIDField()


class EventSerializer(serializers.Serializer[Any]):
    """What a webhook is told: what to read, and nothing of its words."""

    type = serializers.ChoiceField(choices=EVENTS)
    timestamp = serializers.DateTimeField(help_text="When it happened.")
    # The framework takes fields out of the class; its own `data` stays what it is.
    data = EventDataSerializer()  # type: ignore[assignment]  # see above


class FieldErrorSerializer(serializers.Serializer[Any]):
    """What is wrong with one field."""

    pointer = serializers.CharField(help_text="JSON Pointer (RFC 6901) into the body.")
    detail = serializers.CharField()


class IdentifierSerializer(serializers.Serializer[Any]):
    """An identity, card or account number in a message."""

    kind = serializers.ChoiceField(choices=list(get_args(Kind)))
    start = serializers.IntegerField(
        min_value=0, help_text="Where it begins in `text`, in Unicode code points."
    )
    end = serializers.IntegerField(min_value=1, help_text="Where it is over: the first one after.")


class ProblemSerializer(serializers.Serializer[Any]):
    """Problem details as in RFC 9457."""

    type = serializers.CharField(help_text="Names the kind of problem: stable, for programs.")
    title = serializers.CharField()
    status = serializers.IntegerField(min_value=400, max_value=599)
    detail = serializers.CharField(help_text="What happened and what to do, for people.")
    # The framework takes fields out of the class; its own `errors` stays what it is.
    errors = FieldErrorSerializer(many=True, required=False)  # type: ignore[assignment]
    contacts = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text=(
            "What the citizen has to see at once although the message was not taken: it tells of "
            "danger. Absent otherwise."
        ),
    )
    found = IdentifierSerializer(
        many=True,
        required=False,
        help_text=(
            "The numbers that the citizen has to choose about, from left to right. Only with "
            "`urn:ieim:problem:personal-data`."
        ),
    )
    mark = serializers.CharField(required=False, help_text="What stands for each after `remove`.")
