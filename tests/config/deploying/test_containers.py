"""What deploy/compose.yaml mounts into containers: the proxy's files, the roles, the backup."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import re
import shutil
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.checks import ROOT
from tests.services import free_port, postgres_bin, services

DEPLOY = ROOT / "deploy"
NGINX = """\
daemon off; pid {folder}/pid; error_log stderr; {user}
events {{}}
http {{
    client_body_temp_path {folder}/1; proxy_temp_path {folder}/2;
    fastcgi_temp_path {folder}/3; uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
    include {folder}/ieim.conf;
}}
"""
PUBLIC = "https://ask.example.org"


class Web(http.server.BaseHTTPRequestHandler):
    """Answers as a web process might: with what the proxy has told it."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        for name in ("Host", "X-Forwarded-For", "X-Forwarded-Proto", "Upgrade", "Connection"):
            self.send_header(f"Got-{name}", self.headers.get(name, ""))
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        return


@contextmanager
def proxy(folder: Path) -> Iterator[tuple[str, str]]:
    """Run nginx with the files of the container; yield its addresses without and with TLS."""
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=web.serve_forever, args=(0.01,), daemon=True).start()
    plain, secure = free_port(), free_port()
    text = (DEPLOY / "nginx/containers.conf.template").read_text(encoding="utf-8")
    for old, new in {
        "${IEIM_PUBLIC_URL}": PUBLIC,
        "server web:8000 resolve": f"server 127.0.0.1:{web.server_port}",
        "listen 127.0.0.1:8081": f"listen 127.0.0.1:{free_port()}",
        "listen 8080": f"listen 127.0.0.1:{plain}",
        "listen 8443": f"listen 127.0.0.1:{secure}",
        "/etc/nginx/ieim": f"{DEPLOY}/nginx",
        "/etc/nginx/certificates": str(folder),
        "/dev/stdout": f"{folder}/log",
        # An older nginx has neither; the image has 1.30.
        "    resolver 127.0.0.11 valid=5s;\n": "",
        "    http2 on;\n": "",
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "ieim.conf").write_text(text, encoding="utf-8")
    user = f"user {Path.home().owner()};" if os.geteuid() == 0 else ""
    conf = NGINX.format(folder=folder, user=user)
    (folder / "nginx.conf").write_text(conf, encoding="utf-8")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", f"{folder}/privkey.pem", "-out", f"{folder}/fullchain.pem"),
        ],
        check=True,
        capture_output=True,
    )
    nginx = subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf"], stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 20
        while not (folder / "pid").exists() and nginx.poll() is None:
            assert time.monotonic() < deadline, "nginx did not start"
        assert nginx.poll() is None, nginx.stderr.read() if nginx.stderr else ""
        yield f"http://127.0.0.1:{plain}", f"https://localhost:{secure}"
    finally:
        nginx.terminate()
        nginx.wait()
        web.shutdown()
        web.server_close()


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_args: Any) -> None:
        return


def ask(url: str, folder: Path, **headers: str) -> tuple[int, dict[str, str]]:
    trust = ssl.create_default_context(cafile=f"{folder}/fullchain.pem")
    opener = urllib.request.build_opener(Stay, urllib.request.HTTPSHandler(context=trust))
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers)


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_the_proxy_passes_on_what_the_site_needs_and_no_probe(tmp_path: Path) -> None:
    with proxy(tmp_path) as (plain, secure):
        status, result = ask(f"{plain}/help/?a=b", tmp_path, Host="elsewhere.example")
        assert (status, result["Location"]) == (301, f"{PUBLIC}/help/?a=b")
        status, result = ask(
            f"{secure}/ws/chat/", tmp_path, Upgrade="websocket", **{"X-Forwarded-For": "192.0.2.1"}
        )
        assert status == 200
        assert result["Got-X-Forwarded-Proto"] == "https"
        assert result["Got-X-Forwarded-For"] == "192.0.2.1, 127.0.0.1"
        assert (result["Got-Upgrade"], result["Got-Connection"]) == ("websocket", "upgrade")
        for path in ("livez", "readyz", "metrics"):
            assert ask(f"{secure}/{path}", tmp_path)[0] == 404
        ask(f"{secure}/c/a-secret/", tmp_path)
        ask(f"{secure}/help/", tmp_path)
    logged = (tmp_path / "log").read_text(encoding="utf-8")
    assert "/help/" in logged
    assert "a-secret" not in logged


@pytest.mark.skipif(postgres_bin() is None, reason="PostgreSQL is not installed")
def test_the_roles_get_their_passwords_and_a_backup_has_its_seals(tmp_path: Path) -> None:
    """What a container of PostgreSQL runs, on a PostgreSQL of the machine."""
    roles = {"database-owner": "ieim-owner", "database": "ieim", "database-audit": "ieim-audit"}
    with services() as addresses:
        where = urlsplit(addresses["DATABASE_URL"])
        server = f"{where.hostname}:{where.port}"
        for secret, role in roles.items():
            url = f"postgresql://{role}:of-{role}@{server}/ieim"
            (tmp_path / secret).write_text(f"{url}\n", encoding="utf-8")
        administrator = f"postgresql://postgres@{server}/postgres"
        with psycopg.connect(administrator, autocommit=True) as connection:
            connection.execute("DROP DATABASE ieim")
        for file in ("roles.sql", "passwords.sql"):
            text = (DEPLOY / "postgresql" / file).read_text(encoding="utf-8")
            (tmp_path / file).write_text(text.replace("/run/secrets", str(tmp_path)))
            subprocess.run(
                ["psql", "-v", "ON_ERROR_STOP=1", "-f", f"{tmp_path}/{file}", administrator],
                env=os.environ | {"PGOPTIONS": "-c password_encryption=md5"},
                check=True,
                capture_output=True,
            )
        with psycopg.connect(administrator) as connection:
            rows = connection.execute("SELECT rolname, rolpassword FROM pg_authid").fetchall()
        stored: dict[Any, Any] = dict(rows)
        for role in roles.values():
            digest = hashlib.md5(f"of-{role}{role}".encode(), usedforsecurity=False).hexdigest()
            assert stored[role] == f"md5{digest}"
        # Two checkpoints were sealed, a third one is while the backup begins, a fourth one while
        # it is written.
        owner = (tmp_path / "database-owner").read_text(encoding="utf-8").strip()
        with psycopg.connect(owner) as connection:
            connection.execute("CREATE TABLE audit_auditcheckpoint (number integer, at text)")
            connection.execute("GRANT SELECT ON audit_auditcheckpoint TO PUBLIC")
            connection.execute("INSERT INTO audit_auditcheckpoint VALUES (2, 'b'), (1, 'a')")
        seals = [
            json.dumps({"key": "a", "number": entry}, separators=(",", ":"))
            for entry in range(1, 5)
        ]
        result = tmp_path / "seals"
        result.write_text("".join(f"{line}\n" for line in seals[:2]), encoding="utf-8")
        (tmp_path / "bin").mkdir()
        shim = tmp_path / "bin/pg_dump"
        shim.write_text(
            "#!/bin/sh\nset -e\n"
            f"echo '{seals[2]}' >> {result}\n"
            f"psql -q -f {tmp_path}/third.sql {owner}\n"
            f'{shutil.which("pg_dump")} "$@"\n'
            f"echo '{seals[3]}' >> {result}\n",
            encoding="utf-8",
        )
        shim.chmod(0o755)
        (tmp_path / "third.sql").write_text("INSERT INTO audit_auditcheckpoint VALUES (3, 'c')")
        (tmp_path / "backups").mkdir()
        stdout = subprocess.run(
            ["sh", DEPLOY / "backup.sh", f"{tmp_path}/backups", result],
            env=os.environ
            | {
                "DATABASE_URL_FILE": f"{tmp_path}/database-audit",
                "IEIM_DATA_DIR": str(tmp_path),
                "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
            },
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    assert [path.name for path in tmp_path.glob("backup.*")] == ["backup.done"]
    dump = Path(stdout.strip())
    assert dump.read_bytes().startswith(b"PGDMP")
    assert re.fullmatch(r"ieim-\d{8}T\d{6}Z\.dump", dump.name)
    assert dump.with_suffix(".seals").read_text(encoding="utf-8").splitlines() == seals[:3]
