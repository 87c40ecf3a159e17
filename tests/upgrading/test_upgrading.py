"""The database of every earlier version: it is migrated, its pages open, and its record holds."""

from __future__ import annotations

import gzip
import re
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from subprocess import CalledProcessError

import psycopg
import pytest

from tests import live
from tests.upgrading.make import FOLDER, QUESTION, SECRET, WRITTEN
from tests.visitor import Visitor

TAMPER = "UPDATE conversations_turn SET text = 'I never asked' WHERE number = 1"
SQLITE, POSTGRESQL = ".sqlite3.gz", ".postgresql.sql.gz"


def kept(kind: str) -> list[Path]:
    return sorted(FOLDER.glob(f"*{kind}"))


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def send(visitor: Visitor, path: str, **fields: str) -> str:
    """Send the form of a page to the page's own address."""
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', visitor.page(path))
    assert token
    return visitor.page(path, {"csrfmiddlewaretoken": token[1], **fields})


def upgrade_and_look(site: live.Site) -> None:
    site.manage("migrate", "--no-input")
    site.manage("verify_audit")
    site.start()
    chat = send(Visitor(site.base_url), f"/c/{SECRET}/")
    assert QUESTION in chat
    assert WRITTEN in chat
    caseworker, editor = Visitor(site.base_url), Visitor(site.base_url)
    send(caseworker, "/staff/login/", username="caseworker", password="demo-caseworker")
    assert "Nothing is waiting" in caseworker.page("/review/")
    assert "We had a baby" in caseworker.page("/review/?tab=done")
    send(editor, "/staff/login/", username="editor", password="demo-editor")
    assert "12 agencies, 99 services" in editor.page("/knowledge/")
    site.manage("verify_audit")


def assert_a_change_is_found(site: live.Site) -> None:
    """After the owner of the database has changed a message of the version before."""
    with pytest.raises(CalledProcessError) as raised:
        site.manage("verify_audit")
    assert b"1 differ" in raised.value.stdout
    assert b"turn_text" in raised.value.stdout


def test_every_version_of_both_databases_is_kept() -> None:
    sqlite, postgresql = (
        [path.name.removesuffix(kind) for path in kept(kind)] for kind in (SQLITE, POSTGRESQL)
    )
    assert sqlite == postgresql
    assert {"0.1.0", "0.2.0"} <= set(sqlite)


@pytest.mark.whole
@pytest.mark.parametrize("database", kept(SQLITE), ids=lambda path: path.name)
def test_it_takes_over_a_database_of_sqlite(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other sites of this run shall not begin with this database.
    monkeypatch.setattr(live, "PREPARED", tmp_path / "prepared.sqlite3")
    (tmp_path / "ieim.sqlite3").write_bytes(content(database))
    with ExitStack() as stack:
        site = live.Site(stack, tmp_path, {"DATABASE_URL": "", "REDIS_URL": ""})
        upgrade_and_look(site)
        with closing(
            sqlite3.connect(tmp_path / "ieim.sqlite3", isolation_level=None)
        ) as connection:
            connection.execute("DROP TRIGGER conversations_turn_no_update")
            connection.execute(TAMPER)
        assert_a_change_is_found(site)


@pytest.mark.whole
@pytest.mark.postgres
@pytest.mark.processes
@pytest.mark.parametrize("dump", kept(POSTGRESQL), ids=lambda path: path.name)
def test_it_takes_over_a_database_of_postgresql(dump: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        site = live.Site(stack, tmp_path, {"REDIS_URL": ""})
        with psycopg.connect(site.database, autocommit=True) as database:
            database.execute(content(dump))
        upgrade_and_look(site)
        with psycopg.connect(site.database, autocommit=True) as database:
            database.execute("ALTER TABLE conversations_turn DISABLE TRIGGER USER")
            database.execute(TAMPER)
        assert_a_change_is_found(site)
