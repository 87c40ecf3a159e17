"""What each group of settings is made from: functions that read variables of the environment.

Nothing here raises: problems are noted on the :class:`~ieim.config.env.Env`, which lists them all
at once. ``.env.example`` documents every variable.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_database_url
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http.request import split_domain_port, validate_host

from ieim.config.env import Env
from ieim.pipeline.knowledge import LABEL_SETS

LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]


def secret_key(env: Env, *, required: bool) -> str:
    """Django's secret key; a fixed one in development, where only loopback is served."""
    hint = "Set it to 50 or more random characters, kept secret; see .env.example for a command."
    key = env.required(
        "IEIM_SECRET_KEY", hint, when=required, default="development-only-" + "k3y" * 12
    )
    if required and (len(key) < 50 or len(set(key)) < 5) and env.text("IEIM_SECRET_KEY"):
        env.problem("IEIM_SECRET_KEY", f"is too easy to guess. {hint}")
    return key


def secret_key_fallbacks(env: Env, key: str, *, required: bool) -> list[str]:
    """Keys of before, the last one first: what they have signed goes on, nothing new is."""
    name = "IEIM_SECRET_KEY_FALLBACKS"
    keys = env.names(name)
    if required and any(len(each) < 50 for each in keys):
        hint = "Set it to keys that IEIM_SECRET_KEY was before, separated by commas."
        env.problem(name, f"has a key that is too easy to guess. {hint}")
    if key in keys:
        env.problem(name, "has IEIM_SECRET_KEY in it. Set that to a new key, and this to the old.")
    return keys


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


def data_dir(env: Env, default: Path) -> Path:
    """The folder of all data stored in files; created when it does not exist."""
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


def database(env: Env, folder: Path, *, required: bool, tls: bool) -> dict[str, Any]:
    """Django's database settings: PostgreSQL with a pool, or SQLite in ``folder``.

    With ``tls`` one on another machine has to be reached by TLS.
    """
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
            if tls:
                is_encrypted = options.get("sslmode") in ("require", "verify-ca", "verify-full")
                hosts = (database["HOST"] or options.get("host", "")).split(",")
                _require_tls(env, "DATABASE_URL", hosts, is_encrypted, "put ?sslmode=verify-full")
            database["CONN_HEALTH_CHECKS"] = True
            # A worker has eight turns that work, two that are claimed, a heartbeat and a follower;
            # a turn that waits for the model has no connection.
            options["pool"] = {"min_size": 1, "max_size": 20, "timeout": 10}
        case engine:
            env.problem("DATABASE_URL", f"names {engine}, which is not supported. {hint}")
    return database


def redis_url(env: Env, *, required: bool, tls: bool) -> str:
    """The Redis address, empty when everything stays in this process; ``tls`` as for databases."""
    hint = "Set it to a Redis address: redis://host:6379/0"
    url = env.required("REDIS_URL", hint, when=required)
    if url and not _names_redis(url):
        env.problem("REDIS_URL", f"is not a Redis address. {hint}")
    elif url and tls:
        parts = urlsplit(url)
        hosts, is_encrypted = [parts.hostname or ""], parts.scheme == "rediss"
        _require_tls(env, "REDIS_URL", hosts, is_encrypted, "begin it with rediss://")
    if url.startswith("rediss:") and "ssl_cert_reqs=" not in url:
        # Left to itself, Celery's kombu takes any certificate.
        url += f"{'&' if '?' in url else '?'}ssl_cert_reqs=required"
    return url


def _require_tls(env: Env, name: str, hosts: Sequence[str], is_encrypted: bool, how: str) -> None:
    """Note where a service is on another machine and what it is sent is not encrypted."""
    remote = [host for host in hosts if not host.startswith("/") and not _is_here(host)]
    if remote and not is_encrypted:
        env.problem(
            name,
            f"leads to {remote[0]} without TLS, with what citizens wrote. To encrypt it, {how}; or "
            "set IEIM_PRIVATE_NETWORK to true where nobody else is on the network between them.",
        )


def _is_here(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _names_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is no number of a port
    except ValueError:
        return False
    has_server = parts.scheme in ("redis", "rediss") and bool(parts.hostname)
    # redis-py takes a database that is no number for the first one, and says nothing.
    return has_server and re.fullmatch(r"(/[0-9]*)?", parts.path, re.ASCII) is not None


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
        "everybody": env.rate("IEIM_QUESTIONS_RATE", "600/minute"),
        "mail": env.rate("IEIM_MAIL_RATE", "3/day"),
        "mail_origin": env.rate("IEIM_MAIL_ORIGIN_RATE", "20/hour"),
        "tokens": env.rate("IEIM_TOKEN_RATE", "300/minute"),
    }


def metrics_token(env: Env) -> str:
    """What a program has to send to read ``/metrics``; empty where nobody may."""
    token = env.text("IEIM_METRICS_TOKEN")
    if token and not re.fullmatch(r"[A-Za-z0-9._~+/-]{16,200}=*", token):
        env.problem(
            "IEIM_METRICS_TOKEN",
            "is too short or no token. Set it to 16 or more random letters and digits.",
        )
    return token


_SAMPLERS = tuple(
    f"{parent}{sampler}"
    for parent in ("parentbased_", "")
    for sampler in ("always_on", "always_off", "traceidratio")
)


def traces(env: Env) -> str:
    """Where spans are sent by OTLP, empty for nowhere.

    OpenTelemetry's SDK reads its variables by itself. What it would only warn of, be it with a
    secret in the line, is refused here.
    """
    endpoint = ""
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        value = env.text(name)
        endpoint = value or endpoint
        if value and not value.startswith(("http://", "https://")):
            env.problem(name, f"is {value!r}. Set it to an address: http://127.0.0.1:4318")
    env.choice("OTEL_EXPORTER_OTLP_PROTOCOL", ["http/protobuf"], "http/protobuf")
    env.choice("OTEL_TRACES_SAMPLER", _SAMPLERS, _SAMPLERS[0])
    env.number("OTEL_TRACES_SAMPLER_ARG", 1, low=0, high=1)
    for name in ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES"):
        if not all(re.fullmatch(r"[^=\s]+\s*=.*", pair) for pair in env.names(name)):
            env.problem(name, "has something else than name=value pairs, separated by commas.")
    env.text("OTEL_SERVICE_NAME")
    return endpoint


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
            # A full cache drops entries, whichever they are.
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


_CONTRACTS = Path(__file__).resolve().parents[1] / "pipeline" / "contracts"
_RESPONSE_FORMATS = ("json_schema", "json_object_schema", "json_object", "none")
_MAX_TOKENS_FIELDS = ("max_tokens", "max_completion_tokens")
_OVERRIDES: dict[str, tuple[type, float, float] | type | tuple[str, ...]] = {
    "model": str,
    "temperature": (float, 0, 2),
    "max_output_tokens": (int, 1, 10**6),
    "max_input_tokens": (int, 1, 10**12),
    "response_format": _RESPONSE_FORMATS,
    "max_tokens_field": _MAX_TOKENS_FIELDS,
    "send_temperature": bool,
}
"""What a stage may do differently: a type, a range of numbers, or the values of a choice."""


def model(env: Env) -> dict[str, Any]:
    """``settings.IEIM_MODEL``: which model is called, how, and within which bounds.

    ``BASE_URL`` is empty for the offline engine; ``AHEAD`` switches speculative calls on; ``CALLS``
    is how many calls of all processes the server gets at once, None for no limit; ``DEADLINE`` is
    in seconds, for one call in all; ``STORE`` is None where the provider is sent nothing about it;
    ``OVERRIDES`` are by stage id; ``BUDGET`` counts tokens of an ``input``, a ``session`` and a
    ``day``, None for no limit. ``LANGUAGES`` are ISO 639; ``KEY_PATTERNS`` are by key type.
    """
    base_url = env.text("IEIM_MODEL_BASE_URL")
    if base_url and not base_url.startswith(("http://", "https://")):
        env.problem(
            "IEIM_MODEL_BASE_URL",
            "is not a web address. Set it to one such as https://models.example.org/v1, "
            "or leave it out for the offline engine.",
        )
    return {
        "BASE_URL": base_url,
        "API_KEY": env.text("IEIM_MODEL_API_KEY"),
        "NAME": env.required(
            "IEIM_MODEL_NAME",
            "IEIM_MODEL_BASE_URL is set, so set it to the name of a model of that server.",
            when=bool(base_url),
        ),
        "TEMPERATURE": env.number("IEIM_MODEL_TEMPERATURE", 0.2, low=0, high=2),
        "DEADLINE": env.number("IEIM_MODEL_DEADLINE", 30, low=0.1, high=600),
        "RESPONSE_FORMAT": env.choice(
            "IEIM_MODEL_RESPONSE_FORMAT", _RESPONSE_FORMATS, "json_schema"
        ),
        "MAX_TOKENS_FIELD": env.choice(
            "IEIM_MODEL_MAX_TOKENS_FIELD", _MAX_TOKENS_FIELDS, "max_tokens"
        ),
        "SEND_TEMPERATURE": env.flag("IEIM_MODEL_SEND_TEMPERATURE", default=True),
        "STORE": env.flag("IEIM_MODEL_STORE", default=False)
        if env.text("IEIM_MODEL_STORE")
        else None,
        "CACHE_KEY": env.flag("IEIM_MODEL_CACHE_KEY", default=False),
        # In process an answer takes milliseconds: there is nothing to gain.
        "AHEAD": env.flag("IEIM_MODEL_AHEAD", default=True) and bool(base_url),
        "CALLS": int(env.number("IEIM_MODEL_CALLS", 0, low=0, high=10_000)) or None,
        "OVERRIDES": _overrides(env),
        "BUDGET": {
            "input": _tokens(env, "IEIM_BUDGET_INPUT", 64_000),
            "session": _tokens(env, "IEIM_BUDGET_SESSION", 5_000_000),
            # The offline engine costs nothing.
            "day": _tokens(env, "IEIM_BUDGET_DAY", 100_000_000 if base_url else 0),
        },
        "LANGUAGES": _languages(env),
        "KEY_PATTERNS": _key_patterns(env),
    }


def _languages(env: Env) -> list[str]:
    """The codes by which the languages of answers are detected."""
    name = "IEIM_LANGUAGES"
    if not env.names(name):
        return ["en"]
    from ieim.pipeline.message import language  # reads the detector's model: slow

    codes = [language.told_as(code) for code in env.names(name)]
    for code in codes:
        if code not in language.detectable():
            env.problem(
                name,
                f"names {code!r}, which is no language that messages can be told to be in. "
                "Use codes of ISO 639, separated by commas: en, fr",
            )
    return list(dict.fromkeys(codes))


def embeddings(env: Env) -> dict[str, Any]:
    """``settings.IEIM_EMBEDDINGS``: what turns texts into vectors, for the search by meaning.

    ``KIND`` is ``embedded``, ``openai`` or ``none``; the others are of ``openai``. ``DEADLINE`` is
    in seconds, for all that one question needs.
    """
    kind = env.choice("IEIM_EMBEDDINGS", ("embedded", "openai", "none"), "embedded")
    hint = "IEIM_EMBEDDINGS is openai, so set it to"
    served = kind == "openai"
    base_url = env.required(
        "IEIM_EMBEDDINGS_BASE_URL", f"{hint} the server's address, up to /embeddings.", when=served
    )
    if base_url and not base_url.startswith(("http://", "https://")):
        env.problem(
            "IEIM_EMBEDDINGS_BASE_URL",
            "is not a web address. Set it to one such as https://models.example.org/v1.",
        )
    return {
        "KIND": kind,
        "BASE_URL": base_url,
        "API_KEY": env.text("IEIM_EMBEDDINGS_API_KEY"),
        "MODEL": env.required(
            "IEIM_EMBEDDINGS_MODEL", f"{hint} the name of a model of that server.", when=served
        ),
        "DEADLINE": env.number("IEIM_EMBEDDINGS_DEADLINE", 2, low=0.1, high=30),
        # White space around a prefix is lost in reading: one space follows it.
        **{
            name: f"{prefix} " if (prefix := env.text(f"IEIM_EMBEDDINGS_{name}")) else ""
            for name in ("QUERY_PREFIX", "DOCUMENT_PREFIX")
        },
    }


def _key_patterns(env: Env) -> Mapping[str, Sequence[re.Pattern[str]]]:
    raw = env.table("IEIM_KEY_PATTERNS")
    if not raw:
        return {}
    from ieim.pipeline.personal import keys  # slow to import, and seldom needed

    try:
        return keys.compile_patterns(raw)
    except ValueError as error:
        env.problem("IEIM_KEY_PATTERNS", f"cannot be used: {error}")
        return {}


def _tokens(env: Env, name: str, default: int) -> int | None:
    """A number of tokens; 0 is no limit."""
    return int(env.number(name, default, low=0, high=10**12)) or None


def _overrides(env: Env) -> dict[str, dict[str, Any]]:
    name = "IEIM_MODEL_OVERRIDES"
    overrides = env.table(name)
    # Each contract is a file named by its id; importing the core to list the ids would be slow.
    stages = sorted(path.name.partition(".")[0] for path in _CONTRACTS.glob("*.schema.json"))
    for stage, values in overrides.items():
        if stage not in stages:
            env.problem(name, f"names {stage!r}. Use these: {', '.join(stages)}.")
        elif not isinstance(values, dict) or not values.keys() <= _OVERRIDES.keys():
            env.problem(name, f"for {stage} may only hold these: {', '.join(_OVERRIDES)}.")
        else:
            for key, value in values.items():
                if expected := _misfit(value, _OVERRIDES[key]):
                    env.problem(name, f"for {stage} has a {key} {value!r}. Set it to {expected}.")
    return overrides


def _misfit(value: Any, rule: tuple[Any, ...] | type) -> str:
    """Return what an override has to be instead of ``value``, empty where it is that."""
    if isinstance(rule, type):
        return "" if type(value) is rule else {str: "a text", bool: "true or false"}[rule]
    if isinstance(rule[0], str):
        return "" if value in rule else f"one of: {', '.join(rule)}"
    kind, low, high = rule
    # To Python true is a number.
    fits = isinstance(value, (int, kind)) and not isinstance(value, bool) and low <= value <= high
    return "" if fits else f"a number from {low} to {high}"


_HOURS = re.compile(r"([01][0-9]|2[0-4]):([0-5][0-9])-([01][0-9]|2[0-4]):([0-5][0-9])", re.ASCII)
_DAY = 24 * 60


def time_zone(env: Env) -> str:
    """The time zone of business hours and of every time that a page shows."""
    name = env.text("IEIM_TIME_ZONE", "UTC")
    try:
        ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        env.problem("IEIM_TIME_ZONE", f"is {name!r}. Set it to a time zone: Europe/Berlin")
        return "UTC"
    return name


def business_hours(env: Env) -> tuple[int, int]:
    """When people begin and stop working on a working day, in minutes of the day."""
    name, default = "IEIM_BUSINESS_HOURS", (9 * 60, 17 * 60)
    value = env.text(name)
    found = _HOURS.fullmatch(value)
    if found is None:
        if value:
            env.problem(name, f"is {value!r}. Set it to two times of a day: 09:00-17:00")
        return default
    hours = [int(part) for part in found.groups()]
    opens, closes = hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
    if not opens < closes <= _DAY:
        env.problem(name, f"is {value!r}, which has no time in it. Set it to hours: 09:00-17:00")
        return default
    return opens, closes


def holidays(env: Env) -> str:
    """The country whose public holidays nobody works on, empty for weekends only."""
    name = "IEIM_HOLIDAYS"
    value = env.text(name).upper()
    country, _, part = value.partition("-")
    if not value:
        return ""
    # It knows every country, so it is loaded only where one is named.
    from holidays import list_supported_countries

    parts = list_supported_countries().get(country)
    if parts is None or (part and part not in parts):
        env.problem(
            name, f"is {value!r}. Set it to a country (DE), or a part of one (DE-BY), by ISO 3166."
        )
        return ""
    return value


def second_opinion(env: Env) -> dict[str, list[str]]:
    """What needs a second person besides a crisis.

    That is what is decided on a turn that one of ``agencies`` (ids) has or had a part in, and items
    whose message carries a label of one of ``label_sets``.
    """
    name = "IEIM_SECOND_OPINION"
    selection: dict[str, list[str]] = {"agencies": [], "label_sets": []}
    for key, values in env.table(name).items():
        if key not in selection:
            env.problem(name, f"names {key!r}. Use these: {', '.join(selection)}.")
        elif not isinstance(values, list) or not all(isinstance(v, str) for v in values):
            env.problem(name, f"has {key} that are no list of names. Set it to a JSON array.")
        elif key == "label_sets" and (unknown := sorted(set(values) - set(LABEL_SETS))):
            sets = ", ".join(LABEL_SETS)
            env.problem(name, f"names the label set {unknown[0]!r}. Use these: {sets}.")
        else:
            selection[key] = values
    return selection


_KEPT = {"conversations": 0, "decided": 0, "deliveries": 90, "outages": 730, "sign_ins": 7}
"""The days that each kind of data is kept where nothing is set; 0 is no end."""


def keep(env: Env) -> dict[str, int | None]:
    """How many days each kind of data is kept, None for no end; see ``conversations.retention``."""
    days: dict[str, int | None] = {}
    for kind, default in _KEPT.items():
        name = f"IEIM_KEEP_{kind.upper()}"
        if kind == "decided" and not env.text(name):
            days[kind] = days["conversations"]  # as any other
            continue
        days[kind] = int(env.number(name, default, low=0, high=36_500)) or None
    return days


_PORTS = {"starttls": 587, "tls": 465, "none": 25}


def mail(env: Env, *, public_url: str) -> dict[str, Any]:
    """Read the mail server; ``public_url`` is what the links in its messages begin with.

    ``HOST`` is empty where nothing is sent. ``TIMEOUT`` is in seconds. ``OPERATORS`` are the
    addresses that are told of an outage of the model.
    """
    host = env.text("IEIM_SMTP_HOST")
    security = env.choice("IEIM_SMTP_SECURITY", list(_PORTS), "starttls")
    user, password = env.text("IEIM_SMTP_USER"), env.text("IEIM_SMTP_PASSWORD")
    if host and not public_url:
        env.problem(
            "IEIM_PUBLIC_URL",
            "is not set, and e-mails (IEIM_SMTP_HOST) need it for their links. "
            "Set it to the address that people see in their browser: https://ask.example.org",
        )
    if bool(user) != bool(password):
        env.problem("IEIM_SMTP_USER", "goes with IEIM_SMTP_PASSWORD. Set both, or neither.")
    sender = _address(env, "IEIM_MAIL_FROM", env.text("IEIM_MAIL_FROM"))
    operators = [
        _address(env, "IEIM_OPERATOR_MAIL", each) for each in env.names("IEIM_OPERATOR_MAIL")
    ]
    if operators and not host:
        env.problem("IEIM_OPERATOR_MAIL", "needs a mail server. Set IEIM_SMTP_HOST too.")
    return {
        "HOST": host,
        "PORT": int(env.number("IEIM_SMTP_PORT", _PORTS[security], low=1, high=65535)),
        "USER": user,
        "PASSWORD": password,
        "SECURITY": security,
        "TIMEOUT": env.number("IEIM_SMTP_TIMEOUT", 10, low=1, high=60),
        "FROM": sender or f"no-reply@{urlsplit(public_url).hostname or 'localhost'}",
        "FROM_IS_SET": bool(env.text("IEIM_MAIL_FROM")),
        "OPERATORS": operators,
    }


def _address(env: Env, name: str, address: str) -> str:
    try:
        if address:
            validate_email(address)
    except ValidationError:
        env.problem(name, f"is {address!r}. Set it to an address alone: no-reply@example.org")
        return ""
    return address


def version(pyproject: Path) -> str:
    """Return the version that a ``pyproject.toml`` gives its project: nothing else states it."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return str(project["version"])
