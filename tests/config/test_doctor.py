"""What ``manage.py doctor`` finds of an installation; of a model server: tests/llm."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from ieim.audit import checkpoints
from ieim.audit.checkpoints import SEALED
from ieim.audit.selectors import VERIFIED
from ieim.audit.services import record_system
from ieim.config import doctor, health
from tests.conversations.mail.mailing import ADDRESS, post_office

PAGE, SOCKET = "/help/", "/ws/chat/"
GOOD: Mapping[str, tuple[int, str]] = {PAGE: (200, ""), SOCKET: (403, "")}


@contextmanager
def in_front(answers: Mapping[str, tuple[int, str]]) -> Iterator[str]:
    """Answer as a proxy in front might: a status and, for a redirect, where to."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, location = answers[self.path]
            self.send_response(status)
            self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def wrong(row: doctor.Row) -> str:
    """What is said of something that is wrong."""
    assert not row.good, row
    return row.text


@pytest.mark.parametrize(
    ("answers", "to_do"),
    [
        ({PAGE: (301, PAGE)}, "X-Forwarded-Proto"),
        ({PAGE: (400, "")}, "pass Host on"),
        ({PAGE: (502, "")}, "no web process"),
        ({SOCKET: (404, "")}, "pass Upgrade and Connection on"),
    ],
)
def test_it_says_what_a_proxy_does_wrong(
    settings: Any, answers: dict[str, tuple[int, str]], to_do: str
) -> None:
    with in_front({**GOOD, **answers}) as settings.IEIM_PUBLIC_URL:
        (result,) = doctor.proxies()
    assert to_do in wrong(result)


def test_a_proxy_that_passes_everything_on_is_right(settings: Any) -> None:
    with in_front(GOOD) as settings.IEIM_PUBLIC_URL:
        (result,) = doctor.proxies()
    assert result.good, result
    (away,) = doctor.proxies()
    assert "does not answer here" in wrong(away)


def test_it_says_which_keys_are_weak(settings: Any, tmp_path: Path) -> None:
    settings.PRODUCTION, settings.DEBUG, settings.SECRET_KEY = True, True, "django-insecure-1"
    settings.BASE_DIR = tmp_path
    (tmp_path / ".env").touch(0o644)
    text = " ".join(wrong(secret) for secret in doctor.secrets())
    for code in ("security.W009", "security.W018", "chmod 640"):
        assert code in text


def test_it_names_variables_of_older_versions() -> None:
    assert doctor.variables(["PATH", "IEIM_SEALED", "IEIM_SECRET_KEY_FILE"]).good
    problem = wrong(doctor.variables(["SEAL_OPTIONS", "VERIFY_OPTIONS", "IEIM_TELEGRAM_TOKEN"]))
    for name in ("SEAL_OPTIONS", "VERIFY_OPTIONS", "IEIM_TELEGRAM_TOKEN"):
        assert f"{name} does nothing any more" in problem
    assert "docs/audit.md" in problem


def test_the_data_folder_has_to_be_writable_and_to_have_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor.storage(tmp_path).good
    assert "cannot be written" in wrong(doctor.storage(tmp_path / "gone"))
    full = SimpleNamespace(free=doctor.ROOM - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: full)
    assert "Make room" in wrong(doctor.storage(tmp_path))


@pytest.mark.postgres
@pytest.mark.django_db
def test_a_clock_that_is_fast_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.clock().good

    class Fast(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(UTC) + timedelta(seconds=5)

    monkeypatch.setattr(doctor, "datetime", Fast)
    assert "5.0 s" in wrong(doctor.clock())


@pytest.mark.postgres
@pytest.mark.django_db
def test_an_owner_of_the_tables_is_no_role_for_a_site(settings: Any) -> None:
    assert doctor.rights().good, "development may"
    settings.PRODUCTION = True
    assert "grant_roles" in wrong(doctor.rights())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE ROLE another")
        cursor.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
        cursor.execute("GRANT USAGE ON SCHEMA public TO another")
        cursor.execute("SET LOCAL ROLE another")
        assert doctor.rights().good, doctor.rights()
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_it_sends_one_message_where_an_address_is_given(settings: Any) -> None:
    with post_office() as office:
        mail_settings = {"HOST": "127.0.0.1", "PORT": office.port, "SECURITY": "none"}
        settings.IEIM_MAIL = {**settings.IEIM_MAIL, **mail_settings}
        assert "not tried" in doctor.mail("").text
        assert not office.inbox
        assert doctor.mail(ADDRESS).good
        assert [entry["To"] for entry in office.inbox] == [ADDRESS]
        office.refusals.append(("RCPT", "550 No such person"))
        assert "No such person" in wrong(doctor.mail(ADDRESS))
    assert "did not take it" in wrong(doctor.mail(ADDRESS))


@pytest.mark.django_db
def test_it_ends_with_1_and_names_what_is_wrong(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.IEIM_EMBEDDED = False
    monkeypatch.setattr(health, "_last", {})
    monkeypatch.setattr(doctor, "STARTING", 0)
    cache.delete_many(["heartbeat.worker", "heartbeat.beat"])
    health.beat("worker")
    out = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("doctor", "site", stdout=out)
    rows = {row.split()[0]: row.split()[1] for row in out.getvalue().splitlines()[1:] if row}
    assert {name for name, verdict in rows.items() if verdict == "WRONG"} == {"beat", "release"}
    assert rows["worker"] == "ok"
    assert "judgement_v1" not in out.getvalue(), "no call of the model"
    with pytest.raises(CommandError, match="no e-mail address"):
        call_command("doctor", "site", mail="nobody")


@pytest.mark.django_db
def test_seals_are_missed_where_they_are_old_or_never_came(monkeypatch: pytest.MonkeyPatch) -> None:
    (result,) = doctor.seals()
    assert result.good
    monkeypatch.setattr(settings, "IEIM_SEALED", True)
    seal, record = doctor.seals()
    assert "ieim-seal.service" in wrong(seal)
    assert "ieim-verify.service" in wrong(record)
    with transaction.atomic():
        record_system(kind=SEALED, payload={"number": 7}, actor="system")
        record_system(kind=VERIFIED, payload={"ok": True}, actor="system")
    seal, record = doctor.seals()
    assert seal.good
    assert record.good
    assert "checkpoint 7" in seal.text
    with transaction.atomic():
        record_system(kind=VERIFIED, payload={"ok": False}, actor="system")
    assert "does not hold" in wrong(list(doctor.seals())[1])
    monkeypatch.setattr(checkpoints, "SEALED_WITHIN", timedelta(minutes=-1))
    monkeypatch.setattr(doctor, "VERIFIED", timedelta(days=-1))
    seal, record = doctor.seals()
    assert "ieim-seal.service" in wrong(seal)
    assert "two days" in wrong(record)


def test_nobody_who_runs_it_may_write_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``git archive`` left it: 664 and 775 for a group that the processes are in."""
    assert doctor.code(tmp_path).good, "development"
    monkeypatch.setattr(settings, "PRODUCTION", True)
    code = tmp_path / "code"
    (code / "ieim").mkdir(parents=True)
    (code / "ieim/secret.py").touch()
    # Whoever runs the tests owns these files: as root, their modes are asked.
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for mode, name in ((0o664, "ieim/secret.py"), (0o775, "ieim")):
        (code / name).chmod(mode)
        assert f"{code / name}" in wrong(doctor.code(code))
        (code / name).chmod(mode & ~0o022)
    assert doctor.code(code).good
