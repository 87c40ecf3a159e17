"""What the reviewers' API gives of a request for a person and of a takeover."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conversations.person.models import RequestState, Way


class WishSerializer(serializers.Serializer[Any]):
    """What a citizen who asks for a person wants."""

    state = serializers.ChoiceField(choices=RequestState.values)
    way = serializers.ChoiceField(choices=Way.values)
    contact = serializers.CharField(
        help_text="Only for who may decide on the item, and until it ends; empty otherwise."
    )
    wanted_from = serializers.DateTimeField(allow_null=True)
    wanted_until = serializers.DateTimeField(allow_null=True)
    about = serializers.UUIDField(
        source="about_turn", allow_null=True, help_text="The turn that it is about."
    )


class SaidSerializer(serializers.Serializer[Any]):
    """Something that was said to the citizen."""

    id = serializers.UUIDField()
    text = serializers.CharField()
    at = serializers.DateTimeField()


class TakeoverSerializer(serializers.Serializer[Any]):
    """That you have a conversation."""

    since = serializers.DateTimeField()
    silent_at = serializers.DateTimeField(
        help_text="When the assistant answers again, unless you write before."
    )
