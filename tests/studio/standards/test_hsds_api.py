from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings

from ieim.knowledge.bundles.rows import Table
from ieim.pipeline.structured import read_amount
from ieim.studio.standards.hsds_api import services
from ieim.studio.standards.texts import one_line, steps
from tests.studio.standards.samples.samples import read
from tests.studio.standards.test_round_trip import BASE, Rows, bundle, bundles, expected

LISTS = ("requirements", "how_to_apply")


def carried(row: dict[str, Any]) -> bool:
    """Whether HSDS carries a service: it has a step a line, and reads numbers as those of steps."""
    texts = [row[name] for name in row if name not in LISTS and isinstance(row[name], str)]
    lines = [text for name in LISTS for text in row.get(name, ())]
    return (
        all(text.strip() == text for text in texts + lines)
        and steps("\n".join(row.get("how_to_apply", ()))) == list(row.get("how_to_apply", ()))
        and all(one_line(line) == line for line in lines)
    )


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], max_examples=40
)
@given(bundles().filter(lambda rows: rows["services"] and all(map(carried, rows["services"]))))
def test_what_is_published_is_read_back(rows: Rows) -> None:
    published = bundle(rows)
    release = published.release(1)
    mapped, report = read(services(release, BASE, {"per_page": "500"}))

    def compared(row: dict[str, Any]) -> dict[str, Any]:
        # A number has no zeros at its end.
        amounts = list(map(read_amount, row.get("amounts", ())))
        return {**row, "amounts": [(a.value, a.currency, a.purpose) for a in amounts]}

    def read_back(table: Table) -> list[dict[str, Any]]:
        return list(map(compared, mapped.rows.get(table, {}).values()))

    def without_words(table: Table) -> list[dict[str, Any]]:
        return [
            compared(
                {
                    name: value
                    for name, value in row.items()
                    if name not in ("places", "hours")
                    and (name != "path" or value.startswith("http"))
                }
            )
            for row in expected(published, table)
        ]

    assert read_back("services") == without_words("services")
    with_services = {service.agency for service in release.services.values()}
    agencies = {row["id"]: row for row in without_words("agencies") if row["id"] in with_services}
    assert {row["id"]: row for row in read_back("agencies")} == agencies
    used = {(s.agency, key) for s in release.services.values() for key in s.categories}
    assert {(row["agency"], row["key"]): row["value"] for row in read_back("dictionary")} == {
        (agency, key): release.categories[agency, key].value for agency, key in used
    }
    assert report.notes == []


def test_it_has_what_the_api_requires(client: Client, published: str) -> None:
    assert client.get("/hsds/").json()["version"] == "3.1"
    listed = client.get("/hsds/services").json()
    contents = listed.pop("contents")
    assert listed == {
        "total_items": 2, "total_pages": 1, "page_number": 1, "size": 2,
        "first_page": True, "last_page": True, "empty": False,
    }  # fmt: skip
    organizations = []
    for item in contents:
        assert UUID(item["id"]).version == 5
        assert {"name", "status", "organization"} <= item.keys()
        assert client.get(f"/hsds/services/{item['id']}").json() == item
        organization = item["organization"]
        assert {"id", "name", "description"} <= organization.keys()
        organizations.append(organization)
    response = client.get("/hsds/organizations")
    assert response.json()["contents"] == organizations
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_pages_follow_each_other(client: Client, published: str) -> None:
    first, second, third = (
        client.get(f"/hsds/services?per_page=1&page={number}").json() for number in (1, 2, 3)
    )
    assert (first["first_page"], first["last_page"], first["total_pages"]) == (True, False, 2)
    assert (second["first_page"], second["last_page"]) == (False, True)
    assert first["contents"] != second["contents"]
    assert (third["empty"], third["contents"]) == (True, [])


@pytest.mark.parametrize("query", ["page=0", "page=x", "per_page=0", "per_page=501", "search=rent"])
def test_what_it_cannot_do_is_said(client: Client, published: str, query: str) -> None:
    response = client.get(f"/hsds/services?{query}")
    assert response.status_code == 400
    assert response.headers["Content-Type"] == "application/problem+json"


def test_there_is_no_other(client: Client, published: str) -> None:
    missing = client.get("/hsds/services/7a1c0b52-0000-4000-8000-000000000001")
    assert missing.status_code == 404
