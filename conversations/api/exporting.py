"""A conversation to take away: everything that its citizen can read, and who decided what.

As JSON it is what REST gives of a session, and the decisions beside each turn. As HTML it is one
file that needs no other and no script. Neither has a name of staff in it, nor how to reach the
citizen, who may have passed the private link on.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer

from conversations import selectors
from conversations.api.serializers import (
    AI_NOTICE,
    SessionSerializer,
    TurnSerializer,
    ai_notice,
)
from conversations.chat.presenters import ChatView, TurnView
from conversations.decisions import DecisionView, decisions
from conversations.models import Session

Form = Literal["json", "html"]


class WhoDecidedSerializer(serializers.Serializer[Any]):
    """Who decided what about a message."""

    by = serializers.ChoiceField(choices=["machine", "person", "citizen"])
    step = serializers.CharField(help_text="The step, `reply` for an answer, or `person`.")
    what = serializers.CharField(
        help_text="Of a machine `passed`, `fallback` or `stopped`, of a citizen how their choice "
        "ended, of a person what they did: `approve`, `override`, `write` …"
    )
    at = serializers.DateTimeField(allow_null=True)
    labels = serializers.ListField(
        child=serializers.CharField(), help_text="What the machine labelled the message as."
    )


class ExportedTurnSerializer(TurnSerializer):
    """A message, what came of it, and who decided that."""

    decided = WhoDecidedSerializer(many=True)


class ExportSerializer(SessionSerializer):
    """A conversation to take away."""

    exported_at = serializers.DateTimeField()
    notice = serializers.CharField(help_text=AI_NOTICE)
    turns = ExportedTurnSerializer(many=True, help_text="The first one first.")


@dataclass(frozen=True, slots=True)
class Export:
    """A conversation as it was ``exported_at``."""

    session: Session
    chat: ChatView
    decided: dict[Any, tuple[DecisionView, ...]]
    exported_at: datetime

    def as_dict(self) -> dict[str, Any]:
        fields = {
            "id": self.session.pk,
            "reference": self.session.reference,
            "created_at": self.session.created_at,
            "exported_at": self.exported_at,
            "notice": ai_notice(),
            "turns": [],
        }
        turns = [
            {
                **TurnSerializer(turn).data,
                "decided": WhoDecidedSerializer(decisions, many=True).data,
            }
            for turn, decisions in self.turns
        ]
        return {**ExportSerializer(fields).data, "turns": turns}

    @property
    def turns(self) -> list[tuple[TurnView, tuple[DecisionView, ...]]]:
        """The turns, each with what was decided about it."""
        return [(turn, self.decided.get(turn.id, ())) for turn in self.chat.turns]


def export(session: Session) -> Export:
    """Return a session as its citizen can take it away."""
    chat = selectors.session_view(session)
    return Export(session, chat, dict(decisions(session.pk)), timezone.now())


def download(session: Session, form: Form) -> HttpResponse:
    """Return a session as a file to be saved, in the language of the request."""
    exported = export(session)
    if form == "json":
        content: Any = JSONRenderer().render(exported.as_dict())
        kind = "application/json"
    else:
        content = render_to_string("conversations/returning/export.html", {"export": exported})
        kind = "text/html; charset=utf-8"
    response = HttpResponse(content, content_type=kind)
    name = f"conversation-{session.reference}.{form}"
    # Saved, never shown from this address: a browser would show it as a page of this site.
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
