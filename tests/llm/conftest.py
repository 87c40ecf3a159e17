"""Servers that speak the chat completions protocol, well and badly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ieim.llm.server import offline_app, running_server


@pytest.fixture(scope="session")
def offline_endpoint() -> Iterator[str]:
    """The base URL of the offline engine over HTTP."""
    with running_server(offline_app()) as base_url:
        yield base_url
