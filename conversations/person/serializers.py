"""Requests for a person and what is said in a takeover, as JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conversations.person.models import LineKind, RequestState, Way

STATES = RequestState.values


class RequestSerializer(serializers.Serializer[Any]):
    """That this message asks for a person. How to reach the citizen is never told."""

    state = serializers.ChoiceField(choices=STATES)
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
