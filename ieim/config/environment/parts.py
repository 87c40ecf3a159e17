"""The settings that take more than a line: each function reads its variables and returns one value.

Nothing here raises: problems are noted on the :class:`~ieim.config.environment.env.Env` and told
together.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import dj_database_url
from django.http.request import split_domain_port, validate_host

from ieim.config.environment.env import Env

LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]
NO_DEVICES: dict[str, list[str]] = {
    feature: [] for feature in ("camera", "geolocation", "microphone", "payment", "usb")
}
"""What no page of ours may use, by the Permissions-Policy."""
SWEEP_EVERY = 5.0
"""Seconds between two sweeps of the database where Celery beat runs."""
SWEEPS = (
    "conversations.tasks.sweep",
    "conversations.tasks.sweep_mail",
    "ieim.studio.tasks.sweep",
)
"""The tasks that sweep."""


def secret_key(env: Env, *, required: bool) -> str:
    """Django's secret key; a fixed one in development, where only loopback is served."""
    hint = "Set it to 50 or more random characters, kept secret; see .env.example for a command."
    key = env.required(
        "IEIM_SECRET_KEY", hint, when=required, default="development-only-" + "k3y" * 12
    )
    if required and (len(key) < 50 or len(set(key)) < 5) and env.text("IEIM_SECRET_KEY"):
        env.problem("IEIM_SECRET_KEY", f"is too easy to guess. {hint}")
    return key


def allowed_hosts(env: Env, public_url: str, *, required: bool) -> list[str]:
    """The host names that are served; that of ``public_url`` has to be one where ``required``."""
    env.required(
        "IEIM_ALLOWED_HOSTS",
        "Set it to the host names that are served, separated by commas: ask.example.org",
        when=required,
    )
    hosts = env.names("IEIM_ALLOWED_HOSTS", LOOPBACK)
    if required and "*" in hosts:
        env.problem("IEIM_ALLOWED_HOSTS", "lets every host in. Set it to the names that you serve.")
    if any("/" in host for host in hosts):
        env.problem("IEIM_ALLOWED_HOSTS", "has an address. Set it to host names: ask.example.org")
    elif required and public_url and env.text("IEIM_ALLOWED_HOSTS"):
        host, _ = split_domain_port(public_url.partition("//")[2])
        if not validate_host(host, hosts):
            env.problem("IEIM_ALLOWED_HOSTS", f"lacks {host}, the host of IEIM_PUBLIC_URL. Add it.")
    return hosts


def public_url(env: Env, *, required: bool) -> str:
    """The origin in people's browsers, empty when not set."""
    value = env.required(
        "IEIM_PUBLIC_URL",
        "Set it to the address that people see in their browser: https://ask.example.org",
        when=required,
    )
    schemes = ["https"] if required else ["https", "http"]
    return env.origin("IEIM_PUBLIC_URL", value, schemes)


def websocket_sources(public_url: str) -> list[str]:
    """The websocket address of the site as a CSP source."""
    return [public_url.replace("http", "ws", 1)] if public_url else []


def data_dir(env: Env, default: Path) -> Path:
    """The folder of everything that is kept in files; made when it is not there."""
    folder = Path(env.text("IEIM_DATA_DIR", str(default))).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        env.problem(
            "IEIM_DATA_DIR",
            f"is {str(folder)!r}, which cannot be made ({reason}). Set it to a writable folder.",
        )
    return folder


def database(env: Env, folder: Path, *, required: bool) -> dict[str, Any]:
    """Django's database settings: PostgreSQL with a pool, or SQLite in ``folder``."""
    hint = "Set it to a PostgreSQL address: postgresql://user:password@host:5432/name"
    fallback = f"sqlite:///{folder / 'ieim.sqlite3'}"
    url = env.required("DATABASE_URL", hint, when=required, default=fallback)
    try:
        database = cast(dict[str, Any], dj_database_url.parse(url))
    except ValueError:
        env.problem("DATABASE_URL", f"is not a database address. {hint}")
        return {}
    options: dict[str, Any] = database.setdefault("OPTIONS", {})
    match database["ENGINE"].rpartition(".")[2]:
        case "sqlite3":
            database["CONN_MAX_AGE"] = 600
            options |= {
                # A writer waits for another instead of failing, and takes its lock at BEGIN.
                "timeout": 20,
                "transaction_mode": "IMMEDIATE",
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            }
        case "postgresql":
            if not database["NAME"]:
                env.problem("DATABASE_URL", f"names no database. {hint}")
            database["CONN_HEALTH_CHECKS"] = True
            # A worker has eight turns that work, two that are claimed, a heartbeat and a follower;
            # a turn that waits for the model has no connection.
            options["pool"] = {"min_size": 1, "max_size": 20, "timeout": 10}
        case engine:
            env.problem("DATABASE_URL", f"names {engine}, which is not supported. {hint}")
    return database


def redis_url(env: Env, *, required: bool) -> str:
    """The Redis address, empty when everything stays in this process."""
    hint = "Set it to a Redis address: redis://host:6379/0"
    url = env.required("REDIS_URL", hint, when=required)
    if url and not _names_redis(url):
        env.problem("REDIS_URL", f"is not a Redis address. {hint}")
    return url


def _names_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is no number of a port
    except ValueError:
        return False
    known = parts.scheme in ("redis", "rediss") and bool(parts.hostname)
    # redis-py takes a database that is no number for the first one, and says nothing.
    return known and re.fullmatch(r"(/[0-9]*)?", parts.path, re.ASCII) is not None


def channel_layer(redis: str) -> dict[str, Any]:
    """The layer that tells browsers of progress: only ever a hint, the database is the truth."""
    if not redis:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    return {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [redis], "prefix": "ieim"},
    }


def rates(env: Env) -> dict[str, tuple[int, int] | None]:
    """How often one may come, by scope of :mod:`conversations.turns.limits`; None is no limit."""
    return {
        "sessions": env.rate("IEIM_API_SESSIONS_RATE", "60/hour"),
        "turns": env.rate("IEIM_API_TURNS_RATE", "20/minute"),
        "address": env.rate("IEIM_ADDRESS_RATE", "60/minute"),
        "mail": env.rate("IEIM_MAIL_RATE", "3/day"),
        "mail_origin": env.rate("IEIM_MAIL_ORIGIN_RATE", "20/hour"),
    }


def emergency_number(env: Env) -> str:
    """What to call when a life is in danger, as people write it."""
    number = env.text("IEIM_EMERGENCY_NUMBER", "112")
    if not re.fullmatch(r"\+?[0-9]([ /-]?[0-9]){1,14}", number, re.ASCII):
        env.problem("IEIM_EMERGENCY_NUMBER", f"is {number!r}. Set it to a telephone number: 112")
        return "112"
    return number


def cache(redis: str) -> dict[str, Any]:
    """Where rates are counted: for all processes together where there is Redis."""
    if not redis:
        return {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            # When it is full it forgets some, whoever they are.
            "OPTIONS": {"MAX_ENTRIES": 50_000},
        }
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": redis,
        "KEY_PREFIX": "ieim",
    }


def broker_options(redis: str, *, deadline: float) -> dict[str, Any]:
    """What Celery tells the broker; times in seconds."""
    if not redis:
        # The memory broker looks for a new task this often; its own 1 s would be felt.
        return {"polling_interval": 0.01}
    return {
        # Above the longest turn, or a turn still running would be given out a second time: six
        # stages and triage, two attempts each.
        "visibility_timeout": max(600, round(14 * deadline)),
        # How soon a dead worker's turn is noticed once that time is over.
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
    }


def turns_at_once(env: Env, *, embedded: bool) -> int:
    """How many turns a worker has at a time; nearly all of them wait for the model."""
    default = 200 if embedded else 500
    return int(env.number("IEIM_WORKER_TURNS", default, low=1, high=2000))


def logging_config(level: str) -> dict[str, Any]:
    """Log lines go to standard error, so that what a command prints stays clean for a pipe.

    Addresses hold secrets (resume links) and exceptions of clients hold words: requests are named
    by their route, and chatty libraries are heard from WARNING up.
    """
    clients = ("asyncio", "axes", "httpcore", "httpx", "openai", "uvicorn.access", "uvicorn.error")
    # These say that a sweep has come and gone, every few seconds.
    sweeps = ("celery.app.trace", "celery.beat", "celery.worker.strategy")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"routes": {"()": "ieim.config.server.logs.RoutesOnly"}},
        "formatters": {
            "line": {
                "format": "{asctime} {levelname} {name}: {message}",
                "style": "{",
            }
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["routes"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django's own handlers would say everything twice.
            "django": {"handlers": [], "level": level, "propagate": True},
            # Of requests, only those that failed here are worth a line.
            "django.request": {"handlers": [], "level": "ERROR", "propagate": True},
            # Anybody can send a wrong Host header; the answer is 400, and there is nothing to do.
            "django.security.DisallowedHost": {"handlers": [], "propagate": False},
        }
        | {
            name: {"handlers": [], "level": "WARNING", "propagate": True}
            for name in clients + sweeps
        },
    }
