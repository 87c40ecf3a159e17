"""The commands of docs/installing.md, run in their order on a machine that stands in."""

from __future__ import annotations

import os
import re
import ssl
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import psycopg
import pytest

from ieim.llm.server import offline_app, running_server
from tests.checks import ROOT
from tests.config.deploying.machine import Machine, machine
from tests.services import postgres_bin

BLOCK = re.compile(
    r"^## (?P<heading>[^\n]+)$|^```sh run\n(?P<commands>.*?)^```$", re.MULTILINE | re.DOTALL
)


def steps() -> list[tuple[str, str]]:
    """Return the commands that are marked, each with its heading."""
    document = (ROOT / "docs/installing.md").read_text(encoding="utf-8")
    result, heading = [], ""
    for block in BLOCK.finditer(document):
        heading = block["heading"] or heading
        if block["commands"]:
            result.append((heading, block["commands"]))
    return result


def wrong(output: str) -> set[str]:
    """What the doctor says is wrong."""
    return {line.split()[0] for line in output.splitlines() if " WRONG " in line}


@pytest.mark.whole
@pytest.mark.timeout(1800)  # it installs, starts and replaces six processes
@pytest.mark.skipif(postgres_bin() is None, reason="PostgreSQL is not installed")
def test_an_empty_server_comes_to_its_first_answer_and_to_a_new_version_and_back(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o755)
    with running_server(offline_app()) as model, machine(tmp_path, model) as server:
        # Without nginx nothing answers at the site's address: that alone may be wrong.
        allowed = set() if server.nginx else {"proxies"}
        # There is one account: only root may ask for the modes alone.
        allowed |= set() if os.geteuid() == 0 else {"code"}
        for heading, commands in steps():
            if allowed:
                commands = commands.replace("doctor site", "doctor site || true")
            completed = server.run(commands)
            if "doctor site" in commands:
                assert wrong(completed) == allowed, completed
            match heading:
                case "Tables, files, people, knowledge":
                    _keeps_its_triggers(server)
                case "The first answer":
                    assert "passport" in completed.lower()
                case "nginx" if server.nginx:
                    _asked_from_outside(server)
                case "Seals of the record":
                    events = _events(server)
                    assert events["audit.sealed"] == events["audit.verified"] == 1
                case "Backups, and whether they can be restored":
                    assert len(list((tmp_path / "var/backups/ieim").glob("*.dump"))) == 1
        versions = {
            entry: (tmp_path / "opt/ieim" / entry).resolve().name for entry in ("current", "before")
        }
        assert versions == {"current": "0.2.0", "before": "0.3.0"}


def _events(server: Machine) -> Counter[str]:
    with psycopg.connect(server.database("ieim")) as connection:
        return Counter(kind for (kind,) in connection.execute("SELECT kind FROM audit_auditevent"))


def _keeps_its_triggers(server: Machine) -> None:
    """What runs the site reads and writes rows, and cannot take a trigger or a table away."""
    with psycopg.connect(server.database("ieim"), autocommit=True) as connection:
        row = connection.execute("SELECT count(*) FROM audit_auditevent").fetchone()
        assert row is not None
        assert row[0] > 0
        for attack in (
            "ALTER TABLE audit_auditevent DISABLE TRIGGER ALL",
            "TRUNCATE audit_auditevent",
            "DROP TABLE audit_auditevent",
            "CREATE TABLE own ()",
            "DELETE FROM audit_auditevent",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(attack.encode())


def _asked_from_outside(server: Machine) -> None:
    """A page and one of its files come through nginx; a probe does not, and no secret is logged."""
    trust = ssl.create_default_context(cafile=server.environment["SSL_CERT_FILE"])

    def get(path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(server.url + path, context=trust, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""

    status, page = get("/help/")
    assert status == 200
    (style, *_) = re.findall(r'href="(/static/[^"]+\.css)"', page)
    assert get(style)[0] == 200
    assert get("/readyz")[0] == 404
    get("/c/a-secret-of-somebody/")
    logged = (server.root / "var/log/nginx/ieim.log").read_text(encoding="utf-8")
    assert "/help/" in logged
    assert "a-secret" not in logged
