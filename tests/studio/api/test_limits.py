"""Every text and every list that a request may have ends somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from conversations.api.bodies import LONGEST
from ieim.studio.api.serializers import MOST_ITEMS
from tests.review.people import editor_and_publisher
from tests.studio.api.editing_api import Editor

FORMATS = {"uuid", "date", "date-time", "binary", "decimal"}


def endless(schema: dict[str, Any], components: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the places of a request's schema at which a text or a list has no greatest length."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield from endless(components[name], components, f"{path} {name}")
        return
    types = schema.get("type", [])
    # Of a pattern that is not only about NUL the quantifiers are bounded.
    has_form = schema.get("pattern", "NUL: \\u0000").find("u0000") < 0
    is_short = has_form or not {"maxLength", "enum", "const"}.isdisjoint(schema)
    if "string" in types and not is_short and schema.get("format") not in FORMATS:
        yield path
    if "array" in types and "maxItems" not in schema:
        yield path
    for name, child in schema.get("properties", {}).items():
        yield from endless(child, components, f"{path}.{name}")
    for child in (*schema.get("allOf", ()), *schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from endless(child, components, path)
    if isinstance(schema.get("items"), dict):
        yield from endless(schema["items"], components, f"{path}[]")


def test_no_text_and_no_list_of_a_body_is_endless() -> None:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]  # drf-spectacular's own
    document = generator.get_schema(public=True)  # type: ignore[no-untyped-call]  # as above
    components = document["components"]["schemas"]
    places = [
        url
        for path, operations in document["paths"].items()
        if not path.endswith("/file/")  # a file has a limit of its size and its rows
        for operation in operations.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
        for url in endless(content["schema"], components, path)
    ]
    assert sorted(set(places)) == []


@pytest.mark.usefixtures("published")
def test_a_longer_one_is_refused_and_changes_nothing() -> None:
    editor = Editor(editor_and_publisher("ed"))
    query = {"agency": "immigration", "key": "immigration.extend-tourist-visa"}
    before = editor.get("services/entry/", **query)
    values = {"fees": "9" * (LONGEST + 1), "requirements": ["a"] * (MOST_ITEMS + 1)}
    answer = editor.send("PUT", "services/entry/", values, query=query, If_Match=before["ETag"])
    assert answer.status_code == 400
    assert "50000" in answer.content.decode()
    assert editor.get("services/entry/", **query).json() == before.json()
