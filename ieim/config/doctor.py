"""Checks of an installation beside its model, for ``manage.py doctor``."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import httpx2
from asgiref.sync import async_to_sync
from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection
from django.utils import timezone
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from conversations.mail import sending
from ieim.audit import roles
from ieim.audit.checkpoints import last_sealed, missing_seal
from ieim.audit.selectors import last_verification
from ieim.config import health
from ieim.knowledge import selectors as knowledge
from ieim.people.post import hand_over

ROOM: Final = 2**30
"""Bytes that have to be free beside the data."""

APART: Final = 2.0
"""Seconds that a machine's clock may differ from the database's; leases last 15."""

PATIENCE: Final = 10.0
"""Seconds for each answer of the site's own address."""

STARTING: Final = 30.0
"""Seconds that a worker and beat may take for their first heartbeat."""

VERIFIED: Final = timedelta(days=2)
"""How old the last verification may be; one comes every night."""

_SEAL_FILE: Final = (
    "Seals go to one file, which you ship elsewhere by other means (docs/audit.md). Remove it"
)
GONE: Final = {
    "SEAL_OPTIONS": _SEAL_FILE,
    "VERIFY_OPTIONS": _SEAL_FILE,
    "IEIM_TELEGRAM_": "Chats of Telegram are served by a program of its own (docs/integrating.md). "
    "Remove it",
}
"""What to do about variables of older versions that nothing reads any more, by how they begin."""

_TO_DO: Final = {
    "database": "Check that it runs, and DATABASE_URL.",
    "migrations": "Run `manage.py migrate`.",
    "redis": "Check that it runs, and REDIS_URL.",
    "worker": "Start one, or look at its log.",
    "beat": "Start it, or look at its log; a worker has to run as well.",
    "sweeps": "",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A result; the text of one that is not good ends with what to do."""

    name: str
    text: str
    good: bool = True


def examine(mail_to: str = "") -> Iterator[Row]:
    """Yield the results of all checks; nothing is raised.

    Where ``mail_to`` is an address, one e-mail is sent to it.
    """
    yield from processes()
    yield rights()
    yield release()
    yield storage(settings.IEIM_DATA_DIR)
    yield clock()
    yield mail(mail_to)
    yield traces()
    yield from secrets()
    yield variables(os.environ)
    yield from seals()
    yield code(settings.BASE_DIR)
    yield from proxies()


def processes() -> Iterator[Row]:
    """Yield the results of the probes' checks but for the release, which each process reads.

    A worker and beat that have just been started are waited for.
    """
    deadline = time.monotonic() + STARTING
    for name, check in health.checks().items():
        if settings.IEIM_EMBEDDED and name in ("redis", "worker", "beat", "sweeps"):
            yield Row(name, "not set (REDIS_URL): the web process does it, in memory")
        elif name in _TO_DO:
            result = async_to_sync(check.get_result)()
            while result.error and name in ("worker", "beat") and time.monotonic() < deadline:
                time.sleep(1)
                result = async_to_sync(check.get_result)()
            text = "ok" if result.error is None else f"{result.error} {_TO_DO[name]}".rstrip()
            yield Row(name, text, result.error is None)


def rights() -> Row:
    """Check whether the database's role could undo what the triggers of the record refuse."""
    if connection.vendor != "postgresql":
        return Row("rights", "the database has no roles")
    try:
        undoing = roles.undoing()
    except DatabaseError:
        return Row("rights", "cannot be asked without the database.", good=False)
    if not undoing:
        return Row("rights", "the database's role owns no table and can take no trigger off")
    text = f"The database's role {'; '.join(undoing)}: it could undo the audit record"
    if not settings.PRODUCTION:
        return Row("rights", f"development: {text[0].lower()}{text[1:]}")
    to_do = "Use a role that owns nothing (DATABASE_URL), and run `manage.py grant_roles`."
    return Row("rights", f"{text}. {to_do}", good=False)


def release() -> Row:
    """Check whether a release is published."""
    try:
        number = knowledge.current_number()
    except DatabaseError:
        return Row("release", "cannot be asked without the database.", good=False)
    if number is None:
        return Row("release", "None is published. Run `manage.py load_knowledge`.", good=False)
    return Row("release", f"number {number} is published")


def storage(folder: Path) -> Row:
    """Check whether the data folder can be written and has room."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        text = f"{folder} cannot be written ({error.strerror}). Give it to the user who runs this."
        return Row("storage", text, good=False)
    text = f"{folder} can be written, {free / 2**30:.1f} GiB are free"
    return Row("storage", text if free >= ROOM else f"{text}. Make room.", free >= ROOM)


def clock() -> Row:
    """Compare this machine's clock with the database's: leases and releases go by both."""
    if connection.vendor != "postgresql":
        return Row("clock", "the database has this machine's")
    try:
        with connection.cursor() as cursor:
            asked_at = datetime.now(UTC)
            cursor.execute("SELECT clock_timestamp()")
            database_time: datetime = cursor.fetchone()[0]
            answered_at = datetime.now(UTC)
    except DatabaseError:
        return Row("clock", "cannot be compared without the database.", good=False)
    difference = abs((database_time - asked_at - (answered_at - asked_at) / 2).total_seconds())
    if difference > APART:
        text = (
            f"{difference:.1f} s from the database's. Synchronise both (systemd-timesyncd, chrony)."
        )
        return Row("clock", text, good=False)
    return Row("clock", f"{difference:.3f} s from the database's")


def mail(to: str) -> Row:
    """Send one e-mail to an address, where one is given."""
    host, port = settings.IEIM_MAIL["HOST"], settings.IEIM_MAIL["PORT"]
    if not host:
        text = "no server is set (IEIM_SMTP_HOST): nobody is told anything by e-mail"
        return Row("mail", f"{text}, so none was sent." if to else text, not to)
    if not to:
        return Row("mail", f"{host}:{port}, not tried: --mail ADDRESS sends one")
    try:
        name = sending.site_name()
        body = f"This is a test by `manage.py doctor` of {settings.IEIM_PUBLIC_URL}.\n"
        hand_over(
            sending.message(f"{name}: a test", body, to=[to], id=f"{uuid.uuid4().hex}.doctor")
        )
    except Exception as error:  # noqa: BLE001  # whatever the server, the network or TLS had to say
        text = f"{host}:{port} did not take it ({error}). Check IEIM_SMTP_* and IEIM_MAIL_FROM."
        return Row("mail", text, good=False)
    return Row("mail", f"{host}:{port} took one to {to}: look whether it arrives")


def traces() -> Row:
    """Send one span, where traces are on."""
    if not settings.IEIM_TRACES:
        return Row("traces", "no endpoint is set (OTEL_EXPORTER_OTLP_ENDPOINT): there are none")
    from ieim.config.monitoring import tracing

    if trace := tracing.send_test_span():
        return Row("traces", f"{settings.IEIM_TRACES} took the span doctor of trace {trace}")
    text = f"{settings.IEIM_TRACES} took no span. Check that it runs, and OTEL_EXPORTER_OTLP_*."
    return Row("traces", text, good=False)


def secrets() -> Iterator[Row]:
    """Ask Django's deployment checks and ours (keys, debug, hosts, cookies), and who reads .env."""
    file = settings.BASE_DIR / ".env"
    try:
        open_to_all = file.stat().st_mode & 0o007
    except OSError:
        open_to_all = 0
    if open_to_all and settings.PRODUCTION:
        yield Row("keys", f"Every account reads {file}. Run: chmod 640 {file}", good=False)
    if not settings.PRODUCTION:
        text = "development: debug is on and everybody knows the key. A server needs IEIM_ENV"
        yield Row("keys", f"{text}=production")
        return
    messages = checks.run_checks(tags=[checks.Tags.security], include_deployment_checks=True)
    messages = [message for message in messages if not message.is_silenced()]
    for message in messages:
        text = " ".join(filter(None, [message.msg, message.hint]))
        yield Row("keys", f"{text} ({message.id})", good=False)
    if not messages:
        hosts = ", ".join(settings.ALLOWED_HOSTS)
        yield Row("keys", f"the key is long, debug is off, the hosts are {hosts}")


def variables(environment: Iterable[str]) -> Row:
    """Check whether the names of an environment's variables have some that nothing reads."""
    problems = [
        f"{name} does nothing any more. {to_do}."
        for name in sorted(environment)
        for beginning, to_do in GONE.items()
        if name.startswith(beginning)
    ]
    return Row("variables", " ".join(problems) or "none of an older version is set", not problems)


def seals() -> Iterator[Row]:
    """Ask when the audit record was sealed last and whether it was verified, where it is sealed."""
    try:
        fault, sealed, verified = missing_seal(), last_sealed(), last_verification()
    except DatabaseError:
        yield Row("seals", "cannot be asked without the database.", good=False)
        return
    if fault:
        yield Row("seals", fault, good=False)
    elif sealed is None:
        yield Row("seals", "none: `manage.py seal_audit` keeps them outside of the database")
    else:
        when = f"{sealed.at:%Y-%m-%d %H:%M} UTC"
        yield Row("seals", f"checkpoint {sealed.number} was sealed at {when}")
    if settings.IEIM_SEALED:
        recent = verified if verified and timezone.now() - verified.at < VERIFIED else None
        if recent and '"ok":true' in recent.payload:
            yield Row("record", "it was verified within two days, and holds")
        else:
            problem = "does not hold" if recent else "was not verified within two days"
            todo = "Look at the log of ieim-verify.service."
            yield Row("record", f"The audit record {problem}. {todo}", good=False)


def code(folder: Path) -> Row:
    """Check whether the account that runs this can change the program itself."""
    if not settings.PRODUCTION:
        return Row("code", "development: whoever runs it may change it")
    # Root may write everything, whatever the modes are: of it only these are asked.
    is_root = os.geteuid() == 0
    files = (Path(root, name) for root, *names in os.walk(folder) for name in chain(*names))
    for file in (folder.parent, folder, *files):
        writable = file.lstat().st_mode & 0o022 if is_root else os.access(file, os.W_OK)
        if writable and not file.is_symlink() and not file.is_relative_to(settings.IEIM_DATA_DIR):
            problem = f"The account that runs this can write {file}: who breaks in could change it"
            todo = f"Give the code to another account, and run: chmod --recursive go-w {folder}"
            return Row("code", f"{problem}. {todo}", good=False)
    return Row("code", f"the account that runs this can write nothing of {folder}")


def proxies() -> Iterator[Row]:
    """Request a page and a socket at the address that people use."""
    base, number = settings.IEIM_PUBLIC_URL, settings.IEIM_TRUSTED_PROXIES
    if not base:
        yield Row("proxies", "no address is set (IEIM_PUBLIC_URL): nothing to ask")
        return
    believed = f"{number} in front are believed (IEIM_TRUSTED_PROXIES)"
    if problem := _page(base):
        yield Row("proxies", f"{problem} {believed}", good=False)
    elif problem := _socket(base):
        yield Row("proxies", problem, good=False)
    else:
        yield Row("proxies", f"{base} answers, with websockets; {believed}")


def _page(base: str) -> str:
    """Return what is wrong with a page, empty where nothing is."""
    url = f"{base}/help/"
    try:
        response = httpx2.get(url, timeout=PATIENCE)
    except httpx2.HTTPError as error:
        return f"{url} does not answer here ({error}). Check proxy, certificate and name."
    if response.status_code == 200:
        return ""
    if response.is_redirect and urljoin(url, response.headers["location"]) == url:
        return (
            f"{url} redirects to itself. The outermost proxy has to set X-Forwarded-Proto, and "
            "IEIM_TRUSTED_PROXIES to say how many there are."
        )
    to_do = {400: "Let the proxy pass Host on.", 502: "The proxy finds no web process."}
    hint = to_do.get(response.status_code, "Look at its log.")
    return f"{url} answers {response.status_code}. {hint}"


def _socket(base: str) -> str:
    """Return what is wrong with websockets, empty where nothing is."""
    url = base.replace("http", "ws", 1) + "/ws/chat/"
    try:
        # An origin that no site has: the site itself refuses it, and nothing is opened.
        connect(url, origin=Origin("https://doctor.invalid"), open_timeout=PATIENCE).close()
    except InvalidStatus as refused:
        if refused.response.status_code == 403:
            return ""
        return (
            f"{url} answers {refused.response.status_code}: websockets do not get through. Let "
            "the proxy pass Upgrade and Connection on."
        )
    except (InvalidHandshake, OSError) as error:
        return f"{url} does not answer here ({error})."
    return f"{url} takes a page of any site. Check what stands in front."
