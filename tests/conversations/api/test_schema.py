"""The OpenAPI document against the API itself: what it says is what is done, and nothing else."""

from __future__ import annotations

import re
from contextlib import closing
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation

from conversations.models import Turn
from conversations.turns import running
from tests.conversations.api import integrating
from tests.conversations.api.integrating import Integrator
from tests.fixtures import VISA

pytestmark = pytest.mark.usefixtures("published", "no_rates")
no_rates = integrating.no_rates
SCHEMA = "/api/v1/schema/"
SITE: Any = get_wsgi_application()
EXAMPLES = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """The site, which keeps the connection of the test that calls it."""
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    try:
        with closing(SITE(environ, start_response)) as response:
            return list(response)
    finally:
        request_started.connect(close_old_connections)
        request_finished.connect(close_old_connections)


def load(**options: Any) -> Any:
    # Whether a message can be taken is more than its shape: nothing but spaces is 422.
    accepted = {"expected-statuses": ["2xx", "401", "404", "409", "422"]}
    # A text beyond its limit can be a body beyond its own, which is refused unread.
    refused = {"expected-statuses": ["400", "401", "404", "405", "406", "409", "413", "415", "422"]}
    checks = {"positive_data_acceptance": accepted, "negative_data_rejection": refused}
    config = {"checks": checks, **options}
    return schemathesis.openapi.from_wsgi(
        SCHEMA, application, config=SchemathesisConfig.from_dict(config)
    )


# The citizens' part; the reviewers' and the editors' have tests of their own.
documented = load().include(path_regex="^/api/v1/(sessions|turns)/")


@pytest.fixture
def answered() -> Integrator:
    client = Integrator()
    client.ask(VISA)
    turn = Turn.objects.get()
    running.run_turn(turn_id=turn.pk)
    return client


def call_own(case: Any, client: Integrator) -> None:
    """Send a request about what the client's session has, but for one whose fault is its path."""
    wrong = {where for where, part in case.meta.components.items() if part.mode.is_negative}
    if ParameterLocation.PATH not in wrong:
        turn = Turn.objects.filter(session_id=client.id).first()
        ids = {"session_id": client.id, "turn_id": str(turn.pk) if turn else client.id}
        case.path_parameters = {name: ids[name] for name in case.path_parameters or {}}
    token = {} if ParameterLocation.HEADER in wrong else {"Authorization": client.bearer}
    case.call_and_validate(headers=token)


@documented.include(path="/api/v1/turns/{turn_id}/rating/").parametrize()  # type: ignore[untyped-decorator]  # it has no types
@settings(EXAMPLES, max_examples=10)
def test_it_rates_as_its_document_says(case: Any, answered: Integrator) -> None:
    call_own(case, answered)


def test_it_documents_every_operation_and_its_errors() -> None:
    by_key = {
        (operation.method.upper(), operation.path): set(operation.definition.raw["responses"])
        for result in documented.get_all_operations()
        for operation in [result.ok()]
    }
    session = "/api/v1/sessions/{session_id}/"
    assert by_key == {
        ("POST", "/api/v1/sessions/"): {"201", "400", "411", "413", "415", "422", "429"},
        ("GET", session): {"200", "401", "404"},
        ("DELETE", session): {"204", "401", "404"},
        ("GET", f"{session}export/"): {"200", "401", "404"},
        ("GET", f"{session}export/html/"): {"200", "401", "404"},
        ("POST", f"{session}turns/"): {
            *("200", "202", "400", "401", "404", "409", "411", "413", "415", "422", "429", "503")
        },
        ("GET", f"{session}person/"): {"200", "401", "404"},
        ("DELETE", f"{session}person/"): {"204", "401", "404"},
        ("POST", f"{session}person/"): {
            *("201", "400", "401", "404", "409", "411", "413", "415", "422", "429", "503")
        },
        ("GET", "/api/v1/turns/{turn_id}/"): {"200", "401", "404"},
        ("PUT", "/api/v1/turns/{turn_id}/mail/"): {
            *("200", "400", "401", "404", "411", "413", "415", "422", "429")
        },
        ("DELETE", "/api/v1/turns/{turn_id}/mail/"): {"204", "401", "404"},
        ("PUT", "/api/v1/turns/{turn_id}/rating/"): {
            *("200", "400", "401", "404", "411", "413", "415", "422", "429")
        },
        ("PUT", "/api/v1/turns/{turn_id}/checklist/"): {
            *("200", "400", "401", "404", "411", "413", "415")
        },
        ("PUT", "/api/v1/turns/{turn_id}/choice/"): {
            *("200", "400", "401", "404", "409", "411", "413", "415", "422")
        },
        ("PUT", "/api/v1/turns/{turn_id}/safe/"): {"200", "401", "404", "411"},
        ("POST", "/api/v1/turns/{turn_id}/something-else/"): {
            *("200", "202", "401", "404", "409", "411", "422", "429", "503")
        },
    }


def test_it_documents_what_a_webhook_is_told() -> None:
    document = documented.raw_schema
    post = document["webhooks"]["turn"]["post"]
    [name] = [
        part["schema"]["$ref"].rpartition("/")[2]
        for part in post["requestBody"]["content"].values()
    ]
    event = document["components"]["schemas"][name]["properties"]
    assert event.keys() == {"type", "timestamp", "data"}
    for header in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        assert header in post["description"]
    assert post["responses"].keys() == {"204", "410"}


def test_it_serves_its_page_from_this_site_alone() -> None:
    page = Client().get("/api/v1/docs/")
    html = page.content.decode()
    assert page.status_code == 200
    assert not re.search(r"(src|href)=\"(https?:)?//", html)
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=", html)
    assert not page.cookies
    assert "unsafe-inline" not in page["Content-Security-Policy"]
    sources = re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"]+)"', html)
    assert sources
    for source in sources:
        assert Client().get(source.replace("&amp;", "&")).status_code == 200, source
