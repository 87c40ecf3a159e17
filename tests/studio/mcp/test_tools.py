"""The tools as the SDK's own client calls them, over a socket and over standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests import live

PUBLIC = "https://ask.example"
WORDS = "my quokka called Wilhelmina lost her passport"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp")


@pytest.fixture(scope="module")
def site(log: Path) -> Iterator[live.Site]:
    """The real server, which logs all that it can."""
    hosts = "ask.example,127.0.0.1"
    with live.site(
        log, IEIM_PUBLIC_URL=PUBLIC, IEIM_ALLOWED_HOSTS=hosts, IEIM_LOG_LEVEL="DEBUG"
    ) as running:
        yield running


@pytest.fixture(params=["auto", "legacy"])
def client(site: live.Site, request: pytest.FixtureRequest) -> Client:
    """A client of the newest protocol, and one that shakes hands as before."""
    return Client(f"{site.base_url}/mcp", mode=request.param)


def written(folder: Path, words: str) -> list[str]:
    """The files that have these words in them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in files if words.encode() in path.read_bytes()]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    # Clients that know no structured content read the same as text.
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]  # a text, or this fails
    return dict(result.structured_content or {})


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]  # a text, or this fails


async def test_a_service_is_found_and_read(client: Client) -> None:
    async with client:
        answer = await call(client, "search_services", text="I lost my passport")
        first = answer["services"][0]
        agency, key = first["agency"], first["key"]
        service = (await call(client, "get_service", agency=agency, key=key))["service"]
    assert (answer["release"], answer["language"]) == (1, "en")
    assert key == "passports.lost-passport"
    assert first["page"].startswith("https://passports.example/")
    assert first["source"] == f"{PUBLIC}/services/passports/passports.lost-passport.jsonld"
    assert service["requirements"]
    assert first.items() <= service.items()


async def test_texts_come_in_the_language_that_is_asked_for(client: Client) -> None:
    async with client:
        service = {"agency": "passports", "key": "passports.lost-passport"}
        french = await call(client, "get_service", **service, language="fr")
        english = await call(client, "get_service", **service, language="en")
        refused = await refusal(client, "get_service", **service, language="xx")
    assert french["language"] == "fr"
    assert french["service"]["name"] != english["service"]["name"]
    assert "Choose one of: en, " in refused


async def test_agencies_and_situations_are_listed(client: Client) -> None:
    async with client:
        agencies = (await call(client, "list_agencies"))["agencies"]
        situations = (await call(client, "list_situations"))["situations"]
        key = situations[0]["key"]
        steps = (await call(client, "get_situation", key=key))["situation"]["steps"]
    assert "passports" in {agency["agency"] for agency in agencies}
    assert all(agency["services"] for agency in agencies)
    assert len(steps) > 1
    assert {"condition", "deadline_days", "page", "source"} <= steps[0].keys()


async def test_a_wrong_call_is_told_what_to_do(client: Client) -> None:
    async with client:
        long = await refusal(client, "search_services", text="x" * 2001)
        empty = await refusal(client, "search_services", text=" ")
        service = await refusal(client, "get_service", agency="passports", key="no")
        situation = await refusal(client, "get_situation", key="no")
    assert "2,001 characters. Send up to 2,000" in long
    assert "The text is empty" in empty
    assert "search_services returns agency and key" in service
    assert "list_situations returns the keys" in situation


async def test_what_is_asked_is_written_nowhere(site: live.Site, log: Path) -> None:
    async with Client(f"{site.base_url}/mcp") as client:
        await call(client, "search_services", text=WORDS)
        await refusal(client, "search_services", text=WORDS, language="wilhelmina")
        await client.call_tool("search_services", {"texts": WORDS})
        await client.call_tool("wilhelmina", {})
    assert written(log, "Ctrl-C ends everything") == ["server.log"]
    assert written(log, "ilhelmina") == []


async def test_it_is_served_on_standard_input(site: live.Site) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "django", "mcp"],
        env=dict(site.environment),
        cwd=str(live.ROOT),
    )
    async with Client(command) as client:
        answer = await call(client, "search_services", text="I lost my passport")
    assert answer["services"][0]["key"] == "passports.lost-passport"


def test_a_web_process_does_not_import_it_at_its_start() -> None:
    code = (
        "import ieim.config.asgi, sys; "
        "print([n for n in ('mcp', 'starlette', 'sse_starlette') if n in sys.modules])"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "ieim.config.settings"}
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=live.ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout.strip() == "[]"
