from __future__ import annotations

import gzip
import json

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from ieim.knowledge.bundles.bundle import Bundle
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Service

ALL = "/services.jsonld"
ONE = "/services/passports/renew.jsonld"


@pytest.mark.parametrize("path", [ALL, ONE])
def test_it_answers_404_before_the_first_release(client: Client, db: None, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"
    assert "Nothing has been published yet" in response.json()["detail"]


@pytest.mark.parametrize("path", [ALL, ONE])
def test_it_publishes_json_ld_for_everybody(client: Client, published: str, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/ld+json"
    assert response.headers["ETag"] == f'"{published}"'
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Cache-Control"] == "public, max-age=60"
    assert "Set-Cookie" not in response.headers
    assert "Cookie" not in response.headers.get("Vary", "")
    names = {node.get("name") for node in json.loads(response.content)["@graph"]}
    assert "Renew a passport" in names
    assert ("File a tax return" in names) is (path == ALL)


@pytest.mark.parametrize("path", [ALL, ONE])
def test_who_has_the_release_gets_304(client: Client, published: str, path: str) -> None:
    response = client.get(path, headers={"If-None-Match": f'"{published}"'})
    assert (response.status_code, response.content) == (304, b"")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    other = client.get(path, headers={"If-None-Match": '"another"'})
    assert other.status_code == 200


def test_a_new_release_is_another_one(client: Client, published: str) -> None:
    Service.objects.filter(key="renew").update(fees="90 crowns")
    assert b"80 crowns" in client.get(ALL).content
    newer = publish(note="", by=None).sha256
    response = client.get(ALL, headers={"If-None-Match": f'"{published}"'})
    assert b"90 crowns" in response.content
    assert response.headers["ETag"] == f'"{newer}"'


def test_a_whole_release_is_written_once(
    client: Client, published: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.get(ALL)
    with django_assert_num_queries(1):
        client.get(ALL)


def test_it_is_compressed_for_who_takes_that(client: Client, published: str) -> None:
    Service.objects.filter(key="renew").update(overview="Long. " * 100)
    publish(note="", by=None)
    response = client.get(ALL, headers={"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
    assert b"Renew a passport" in gzip.decompress(response.content)


def test_every_service_is_at_its_own_address(client: Client, bundle: Bundle, db: None) -> None:
    import_bundle(bundle=bundle, by=None)
    odd = ["a/b", "a~1b", "a b", "ü?#%", "a.jsonld", "1%2F2"]
    for key in odd:
        Service.objects.create(agency_id="tax", key=key, name=f"Service {key}")
    publish(note="", by=None)
    graph = json.loads(client.get(ALL).content)["@graph"]
    services = [node for node in graph if node["@type"] == "GovernmentService"]
    assert len(services) == len(odd) + 2
    for node in services:
        alone = client.get(node["@id"].removeprefix("http://testserver"))
        assert alone.status_code == 200
        assert json.loads(alone.content)["@graph"][-1] == node


@pytest.mark.parametrize("path", ["/services/tax/renew.jsonld", "/services/x/y.jsonld"])
def test_there_is_no_other_service(client: Client, published: str, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert "no such entry" in response.json()["detail"]


def test_it_is_only_read(client: Client, published: str) -> None:
    assert client.post(reverse("published:services")).status_code == 405
    assert client.head(ALL).content == b""
