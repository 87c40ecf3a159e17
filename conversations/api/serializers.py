"""What the API takes and gives, as JSON: made from the page's own views, so both show the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, get_args

from drf_spectacular.drainage import set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.mail.selectors import STATES as MAIL_STATES
from conversations.models import Reason, ReplyOrigin
from conversations.person.contacts import MAX_EMAIL
from conversations.person.models import LineKind, RequestState, Way
from conversations.rating import MAX_CHARS as FEEDBACK_CHARS
from conversations.states import TurnState
from conversations.turns.choosing import Reason as AskedFor
from conversations.turns.message import CHOICES
from conversations.turns.services import CLIENT_ID, is_client_id
from conversations.webhooks.models import Event
from conversations.webhooks.services import NAME
from ieim.pipeline.choosing import MOST
from ieim.pipeline.message.identifiers import Kind
from ieim.pipeline.message.screen import MAX_CHARS

REASONS, REQUEST_STATES, EVENTS = Reason.values, RequestState.values, Event.values
NO_NUL = r"^[^\u0000]*$"
"""The parser takes no NUL anywhere, so that is part of the shape."""
REFERENCE = "To say on the telephone, like K7M-4QX9."


class ExactTextField(serializers.CharField):
    """A JSON string, taken as it is: a number or a boolean is none, and nothing is trimmed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)
        # What a message may hold is the service's to say (422), not the field's.
        self.validators = []

    def to_internal_value(self, data: Any) -> str:
        """Return ``data``; raises ValidationError for what is not a string."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(data)


class LimitedTextField(ExactTextField):
    """Such a string, with the most code points that the service takes in the document."""

    def __init__(self, *, longest: int, **options: Any) -> None:
        super().__init__(**options)
        limits = {"type": "string", "maxLength": longest, "pattern": NO_NUL}
        set_override(self, "field", limits)


@extend_schema_field({"type": "string", "pattern": CLIENT_ID})
class ClientIdField(ExactTextField):
    """A client's own name for its message."""

    default_error_messages = {
        "form": "Use 1 to 64 letters, digits and . _ ~ : - for a client_id, such as a UUID."
    }

    def to_internal_value(self, data: Any) -> str:
        """Return ``data``; raises ValidationError for what is no name."""
        value = super().to_internal_value(data)
        if not is_client_id(value):
            self.fail("form")
        return value


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": MAX_CHARS, "pattern": NO_NUL})
class MessageField(ExactTextField):
    """A citizen's message."""


@extend_schema_field({"type": "string", "pattern": f"^{NAME}$"})
class WebhookNameField(ExactTextField):
    """The name of a webhook."""


class ExactBooleanField(serializers.BooleanField):
    """A JSON boolean: a word or a number that looks like one is none."""

    default_error_messages = {"invalid": "Send true or false, not in quotes."}

    def to_internal_value(self, data: Any) -> bool:
        """Return ``data``; raises ValidationError for what is not a boolean."""
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class NumberField(serializers.IntegerField):
    """A JSON number: a word that looks like one is none."""

    default_error_messages = {"invalid": "Send a whole number, not in quotes, or null."}

    def to_internal_value(self, data: Any) -> int:
        """Return ``data``; raises ValidationError for what is not a whole number."""
        # For JSON Schema 2.0, which is read as a Decimal, is a whole number too.
        whole = isinstance(data, int) or (isinstance(data, Decimal) and data == int(data))
        if not whole or isinstance(data, bool):
            self.fail("invalid")
        return int(data)


@extend_schema_field(
    {
        "oneOf": [
            {"type": "integer"},
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": MOST},
        ]
    }
)
class NumbersField(NumberField):
    """A JSON number or a list of some."""

    default_error_messages = {
        "invalid": "Send a whole number, not in quotes, a list of one to four of them, or null."
    }

    def to_internal_value(self, data: Any) -> list[int]:  # type: ignore[override]  # of each
        """Return the numbers; raises ValidationError for what is neither one nor a list."""
        given = data if isinstance(data, list) else [data]
        if not 1 <= len(given) <= MOST:
            self.fail("invalid")
        return [super(NumbersField, self).to_internal_value(each) for each in given]


class ClosedSerializer(serializers.Serializer[Any]):
    """A body that has no other fields."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the fields; raises ValidationError for one that is not known here: a misspelt
        ``client_id`` must not pass for none."""
        unknown = [n for n in data if n not in self.fields] if isinstance(data, dict) else []
        if unknown:
            raise serializers.ValidationError(
                {name: ["This field is not known here."] for name in unknown}
            )
        return super().to_internal_value(data)


# ---- What is taken


class OpenSerializer(ClosedSerializer):
    """A new session."""

    webhook = WebhookNameField(
        required=False,
        help_text="The name of the webhook that is told what comes of this session.",
    )


class AskSerializer(ClosedSerializer):
    """A citizen's message."""

    text = MessageField(
        allow_blank=True,
        help_text=f"The message, up to {MAX_CHARS:,} characters (Unicode code points).",
    )
    client_id = ClientIdField(
        required=False,
        help_text=(
            "Your own name for this message, unique in the session. Sending the same name with "
            "the same text again gives the same turn."
        ),
    )
    personal_data = serializers.ChoiceField(
        choices=list(CHOICES),
        required=False,
        help_text=(
            "What the citizen chose after `urn:ieim:problem:personal-data`: `remove` stores the "
            "message with a mark in place of the numbers that were found, `send` stores it as it "
            "is. Nothing happens to a message without such numbers. Ask the citizen: never send "
            "it with the first try."
        ),
    )


class RatingSerializer(ClosedSerializer):
    """What a citizen thinks of an answer."""

    useful = ExactBooleanField(help_text="Whether the answer was useful.")
    reason = serializers.ChoiceField(
        choices=REASONS,
        required=False,
        help_text="Why it was not; only where `useful` is false.",
    )
    text = LimitedTextField(
        longest=FEEDBACK_CHARS,
        required=False,
        allow_blank=True,
        help_text=(
            f"Why, in the citizen's own words, up to {FEEDBACK_CHARS} characters (Unicode code "
            "points). Personal data are taken out before it is stored."
        ),
    )


class ChooseSerializer(ClosedSerializer):
    """What a citizen chose."""

    choice = NumbersField(
        allow_null=True,
        help_text="The `number` of an option, or, where the choice has `several`, a list of them; "
        "null for none of these.",
    )


class MailSerializer(ClosedSerializer):
    """Where the citizen wants to be told."""

    address = LimitedTextField(longest=MAX_EMAIL, help_text="An e-mail address. Never told again.")


class PersonSerializer(ClosedSerializer):
    """A wish to have a person."""

    text = LimitedTextField(
        longest=MAX_CHARS,
        required=False,
        allow_blank=True,
        help_text="What it is about, in the citizen's words.",
    )
    about = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="A turn of the session that it is about. This or `text` is needed.",
    )
    way = serializers.ChoiceField(choices=Way.values)
    contact = LimitedTextField(
        longest=MAX_EMAIL,
        required=False,
        allow_blank=True,
        help_text="For `email` an address, for `call` a telephone number. Never told again.",
    )
    time = LimitedTextField(
        longest=17,
        required=False,
        allow_blank=True,
        help_text="For `call`: the `value` of one of the `times`; left out for any time.",
    )


# ---- What is given


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

    kind = serializers.ChoiceField(choices=["service", "answer", "guidance", "question", "outside"])
    agency_notices = NoticeSerializer(many=True, help_text="To be shown above everything else.")
    title = serializers.CharField()
    lead = serializers.CharField(
        help_text="What to do first. Empty where the reply opens with a fact that was asked for."
    )
    paragraphs = serializers.ListField(child=serializers.CharField())
    facts = FactSerializer(many=True)
    cards = CardSerializer(
        many=True, help_text="The services of an answer over several agencies, in its order."
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
    """A service that the citizen may choose."""

    number = serializers.IntegerField(min_value=1)
    agency = serializers.CharField(help_text="The agency's id.")
    service = serializers.CharField(help_text="The service's key.")
    name = serializers.CharField()
    agency_name = serializers.CharField()
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
