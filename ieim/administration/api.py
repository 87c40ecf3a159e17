"""The administration by REST, for sites and apps that show its assistant."""

from __future__ import annotations

from typing import Any

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ieim.administration import selectors
from ieim.administration.hours import clock
from ieim.administration.organisation import Administration


class HelpNumberSerializer(serializers.Serializer[Any]):
    """A help line: its name and number."""

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
    contact = ContactSerializer(source="*", read_only=True)
    hours = serializers.SerializerMethodField()

    @extend_schema_field(HelpNumberSerializer(many=True))
    def get_help_numbers(self, organisation: Administration) -> Any:
        return [{"name": name, "number": number} for name, number in organisation.help_numbers]

    @extend_schema_field(HoursSerializer(allow_null=True))
    def get_hours(self, organisation: Administration) -> Any:
        now = timezone.now()
        status = organisation.status(now)
        if status is None:
            return None
        hours = organisation.hours
        days = [
            {"weekday": number, "open": [{"opens": clock(a), "closes": clock(b)} for a, b in spans]}
            for number, spans in enumerate(hours.days, start=1)
        ]
        data = {
            "time_zone": str(hours.zone),
            "days": days,
            "holidays": hours.country,
            "closed": organisation.closed_from(now),
            "open_now": status.open,
            "until": status.until,
        }
        return HoursSerializer(data).data


class AdministrationView(APIView):
    """The administration."""

    authentication_classes: Any = []
    permission_classes: Any = [AllowAny]
    http_method_names = ["get", "head"]

    @extend_schema(
        operation_id="read_administration",
        summary="Read whose assistant this is",
        description=(
            "The name, the languages that citizens are offered, and how to reach people: what a "
            "page or an app that shows the assistant should show beside it. No token is needed."
        ),
        auth=[],
        responses={200: AdministrationSerializer},
    )
    def get(self, request: Request) -> Response:
        response = Response(AdministrationSerializer(selectors.current()).data)
        response["Cache-Control"] = "no-cache"
        return response


app_name = "administration_api"
urlpatterns = [path("", AdministrationView.as_view(), name="administration")]
