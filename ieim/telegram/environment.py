"""What the channel is told by its environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

TELEGRAM = "https://api.telegram.org"


class Wrong(Exception):
    """Variables that are missing or wrong; the message says which, and what to set."""


@dataclass(frozen=True, slots=True)
class Settings:
    """``token`` is the bot's, ``base_url`` IEIM's origin, ``state`` the file that is kept."""

    token: str
    base_url: str
    state: Path
    telegram: str = TELEGRAM

    def __repr__(self) -> str:
        return f"Settings({self.base_url})"  # whoever has the token has the bot


def read(environment: Mapping[str, str]) -> Settings:
    """Return the settings. Raises :class:`Wrong`."""
    problems = []
    token = environment.get("IEIM_TELEGRAM_TOKEN", "").strip()
    if not re.fullmatch(r"[0-9]+:[A-Za-z0-9_-]{10,}", token):
        problems.append("IEIM_TELEGRAM_TOKEN: set it to the token that @BotFather gave you.")
    origins = {}
    for name, default in (("IEIM_TELEGRAM_BASE_URL", ""), ("IEIM_TELEGRAM_API", TELEGRAM)):
        origins[name] = (environment.get(name, "").strip() or default).rstrip("/")
        if not _is_origin(origins[name]):
            problems.append(
                f"{name}: set it to an address such as https://ask.example.org (http:// only to "
                "this machine)."
            )
    state = environment.get("IEIM_TELEGRAM_STATE", "").strip()
    if not state:
        problems.append("IEIM_TELEGRAM_STATE: set it to a file that only the channel can read.")
    if problems:
        raise Wrong("\n".join(problems))
    base_url, telegram = origins.values()
    return Settings(token, base_url, Path(state), telegram)


def _is_origin(text: str) -> bool:
    """Whether it is a scheme and a host: tokens go there, so elsewhere than here by TLS alone."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        return False
    here = url.host in ("127.0.0.1", "::1", "localhost")
    plain = url.path in ("", "/") and not url.query and not url.fragment and not url.userinfo
    return bool(url.host) and plain and (url.scheme == "https" or (url.scheme == "http" and here))
