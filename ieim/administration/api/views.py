"""The API's resource: what an administration says of itself."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ieim.administration import selectors
from ieim.administration.api.serializers import AdministrationSerializer

EXAMPLE = {
    "name": "City of Northport",
    "short_name": "Northport",
    "languages": ["en", "fr"],
    "emergency_number": "112",
    "help_numbers": [{"name": "Listening Line", "number": "+999 20 555 0100"}],
    "contact": {
        "telephone": "+44 20 7946 0100",
        "email": "office@northport.example",
        "address": "Harbour Square 1\n10101 Northport",
        "website": "https://www.northport.example/",
    },
    "hours": {
        "time_zone": "Europe/London",
        "days": [{"weekday": 1, "open": [{"opens": "08:30", "closes": "16:30"}]}],
        "holidays": "GB",
        "closed": [{"first": "2026-12-24", "last": "2026-12-31", "why": "winter break"}],
        "open_now": True,
        "until": "2026-11-23T16:30:00Z",
    },
}


class OneAdministration(APIView):
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
        responses={
            200: OpenApiResponse(
                AdministrationSerializer,
                description="The administration.",
                examples=[OpenApiExample("A city", value=EXAMPLE, response_only=True)],
            )
        },
    )
    def get(self, request: Request) -> Response:
        """Read whose assistant this is."""
        response = Response(AdministrationSerializer(selectors.current()).data)
        response["Cache-Control"] = "no-cache"
        return response
