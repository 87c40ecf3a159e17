"""An address that nobody listed opens to nobody, whatever its view asks for itself."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from ieim.people.models import User


def careless(request: HttpRequest) -> HttpResponse:
    """A view that asks for nothing."""
    return HttpResponse("what nobody may see")


LATE = [path("late/", careless, name="late")]
urlpatterns = [
    path("forgotten/", careless, name="forgotten"),
    path("api/v1/knowledge/", include((LATE, "knowledge_api"))),
    path("", include("ieim.config.urls")),
]


@pytest.mark.urls(__name__)
@pytest.mark.parametrize("address", ["/forgotten/", "/api/v1/knowledge/late/"])
def test_it_opens_to_nobody(client: Client, db: None, address: str) -> None:
    said = client.get(address)
    assert (said.status_code, b"nobody may see" in said.content) == (403, False)
    client.force_login(User.objects.create_superuser("root"))
    assert client.get(address).status_code == 403
