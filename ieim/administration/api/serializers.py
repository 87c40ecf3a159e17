"""The administration as JSON."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ieim.administration.hours import clock
from ieim.administration.own import Administration


class HelpNumberSerializer(serializers.Serializer[Any]):
    """Who helps, and the number."""

    name = serializers.CharField()
    number = serializers.CharField()


class ContactSerializer(serializers.Serializer[Any]):
    """How to reach people; empty where it is not set."""

    telephone = serializers.CharField(allow_blank=True)
    email = serializers.CharField(allow_blank=True)
    address = serializers.CharField(allow_blank=True)
    website = serializers.CharField(allow_blank=True)


class OpenSpanSerializer(serializers.Serializer[Any]):
    """From when to when, as ``09:00`` in the time zone."""

    opens = serializers.CharField()
    closes = serializers.CharField()


class DaySerializer(serializers.Serializer[Any]):
    """A weekday, 1 for Monday; ``open`` is empty where it is closed."""

    weekday = serializers.IntegerField(min_value=1, max_value=7)
    open = OpenSpanSerializer(many=True)


class ClosedSerializer(serializers.Serializer[Any]):
    """Days on which it is closed, both included."""

    first = serializers.DateField()
    last = serializers.DateField()
    why = serializers.CharField(allow_blank=True)


class HoursSerializer(serializers.Serializer[Any]):
    """Opening hours, and whether it is open at this moment."""

    time_zone = serializers.CharField()
    days = DaySerializer(many=True)
    holidays = serializers.CharField(
        allow_blank=True, help_text="The country on whose public holidays it is closed: DE, DE-BY."
    )
    closed = ClosedSerializer(many=True)
    open_now = serializers.BooleanField()
    until = serializers.DateTimeField(
        allow_null=True, help_text="When that changes; null where it does not within 60 days."
    )


class AdministrationSerializer(serializers.Serializer[Administration]):
    """The administration whose assistant this is."""

    name = serializers.CharField()
    short_name = serializers.CharField()
    languages = serializers.ListField(child=serializers.CharField())
    emergency_number = serializers.CharField()
    help_numbers = serializers.SerializerMethodField()
    contact = serializers.SerializerMethodField()
    hours = serializers.SerializerMethodField()

    @extend_schema_field(HelpNumberSerializer(many=True))
    def get_help_numbers(self, own: Administration) -> Any:
        """Who helps besides."""
        return [{"name": who, "number": number} for who, number in own.help_numbers]

    @extend_schema_field(ContactSerializer)
    def get_contact(self, own: Administration) -> Any:
        """How to reach people."""
        return ContactSerializer(own).data

    @extend_schema_field(HoursSerializer(allow_null=True))
    def get_hours(self, own: Administration) -> Any:
        """When, or None where no hours are set."""
        now = timezone.now()
        status = own.status(now)
        if status is None:
            return None
        days = [
            {"weekday": number, "open": [{"opens": clock(a), "closes": clock(b)} for a, b in spans]}
            for number, spans in enumerate(own.hours.days, start=1)
        ]
        shown = {
            "time_zone": str(own.hours.zone),
            "days": days,
            "holidays": own.hours.country,
            "closed": own.closed_from(now),
            "open_now": status.open,
            "until": status.until,
        }
        return HoursSerializer(shown).data
