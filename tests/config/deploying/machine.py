"""A machine that stands in for the Debian server of docs/installing.md.

Its files are in a folder, its accounts are names for the database alone, and its systemd runs what
the units say (systemctl.py). PostgreSQL, Redis, the processes and, where it is installed, nginx are
real.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from ieim.llm.offline import NAME as OFFLINE
from tests.checks import ROOT, clean_environment
from tests.services import free_port, services

FOLDERS = (
    *("opt/ieim", "etc/ieim", "var/lib/ieim", "var/backups/ieim", "etc/systemd/system"),
    *("etc/nginx", "etc/letsencrypt", "var/log/nginx", "var/www/html"),
)
SHIMS = {
    "adduser": "",
    "chown": "",
    "runuser": 'export PGUSER="$2"; shift 3; exec "$@"',
    # What it would install is here already.
    "make": 'test "$3" = setup-production && exec ln -s {repository}/.venv "$2/.venv"',
    "systemctl": 'exec {python} {systemctl} "$@"',
    "nginx": 'exec {nginx} -c {root}/etc/nginx/nginx.conf "$@"',
}
NGINX = """\
daemon on; pid {root}/run/nginx.pid; error_log {root}/run/nginx.log; {user}
events {{}}
http {{
    include {root}/etc/nginx/mime.types; access_log off;
    client_body_temp_path {root}/run/1; proxy_temp_path {root}/run/2;
    fastcgi_temp_path {root}/run/3; uwsgi_temp_path {root}/run/4; scgi_temp_path {root}/run/5;
    include {root}/etc/nginx/sites-enabled/*;
}}
"""


class Machine:
    """The machine in ``root``; ``replaced`` is what its commands and files say otherwise."""

    def __init__(self, root: Path, database: str, redis: str, model: str) -> None:
        self.root = root
        self.nginx = shutil.which("nginx")
        self.https = free_port()
        where = urlsplit(database)
        self._database = f"{where.hostname}:{where.port}"
        self.replaced = {
            "8001": str(free_port()),
            "8002": str(free_port()),
            "%2Frun%2Fpostgresql": self._database,
            "redis://127.0.0.1:6379/0": redis,
            "https://models.example.org/v1": model,
            "IEIM_MODEL_NAME=example": f"IEIM_MODEL_NAME={OFFLINE}",
            "https://ask.example.org": self.url,
            "/ask.example.org/ask.example.org/": "/ask.example.org/localhost/",
            "=ask.example.org": "=localhost",
            "listen 80": f"listen 127.0.0.1:{free_port()}",
            "listen 443": f"listen 127.0.0.1:{self.https}",
            "    listen [::]:80 default_server;\n": "",
            "    listen [::]:80;\n": "",
            "    listen [::]:443 ssl default_server;\n": "",
            "    listen [::]:443 ssl;\n": "",
            "--schedule /tmp": f"--schedule {root}/run",
        }
        self.environment = clean_environment() | {
            "PATH": f"{root}/bin:{os.environ['PATH']}",
            "MACHINE": str(root),
            "PGHOST": str(where.hostname),
            "PGPORT": str(where.port),
            "SSL_CERT_FILE": f"{root}/etc/letsencrypt/live/localhost/fullchain.pem",
            "IEIM_EMBEDDINGS": "none",  # a second at the start of each process
        }
        # Each version is where it was unpacked, and reads its own .env.
        for name in ("PYTHONPATH", "DJANGO_SETTINGS_MODULE"):
            del self.environment[name]

    @property
    def url(self) -> str:
        """Where people reach it."""
        return f"https://localhost:{self.https}"

    def database(self, role: str, name: str = "ieim") -> str:
        """Return the address of a database for a role."""
        return f"postgresql://{role}@{self._database}/{name}"

    def set_up(self) -> None:
        """Make what a Debian server has before the first command, and the archives."""
        for folder in (*FOLDERS, "bin", "run", "etc/nginx/snippets", "etc/nginx/sites-available"):
            (self.root / folder).mkdir(parents=True)
        for folder in ("opt/ieim", "etc/ieim", "var/backups/ieim"):
            (self.root / folder).rmdir()
        (self.root / "etc/nginx/sites-enabled").mkdir()
        names = {
            "root": self.root,
            "repository": ROOT,
            "python": sys.executable,
            "systemctl": ROOT / "tests/config/deploying/systemctl.py",
            "nginx": self.nginx or "true",
            "user": f"user {Path.home().owner()};" if os.geteuid() == 0 else "",
        }
        for name, does in SHIMS.items():
            shim = self.root / "bin" / name
            words = re.sub(r"\{(\w+)\}", lambda match: str(names[match[1]]), does)
            shim.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
            shim.chmod(0o755)
        conf = self.root / "etc/nginx/nginx.conf"
        conf.write_text(NGINX.format(**names), encoding="utf-8")
        types = "types { text/css css; application/javascript js; }"
        (conf.parent / "mime.types").write_text(types, encoding="utf-8")
        self._certificate()
        for version in ("0.2.0", "0.3.0"):
            self._archive(version)
        administrator = self.database("postgres", "postgres")
        with psycopg.connect(administrator, autocommit=True) as connection:
            connection.execute("DROP DATABASE ieim")  # Debian's has none

    def run(self, commands: str) -> str:
        """Run commands as root would; returns what they print. Raises where one fails."""
        done = subprocess.run(
            ["sh", "-eu", "-c", self.here(commands)],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            logs = [
                f"--- {log.name}\n{log.read_text('utf-8', 'replace')[-2000:]}"
                for log in (self.root / "run").glob("*.log")
            ]
            raise AssertionError("\n".join([commands, done.stdout, *logs]))
        return done.stdout

    def here(self, text: str) -> str:
        """Return commands or a file as this machine needs them."""
        for old, new in self.replaced.items():
            text = text.replace(old, new)
        text = re.sub(rf"(?<![\w./])/({'|'.join(FOLDERS)})(?!\w)", rf"{self.root}/\1", text)
        # There are no such accounts.
        return re.sub(r"(?<=install --directory) --owner=\S+ --group=\S+", "", text)

    def end(self) -> None:
        """End everything that runs."""
        for file in (self.root / "run").glob("ieim-*.pid"):
            self.run(f"systemctl stop {file.stem}")
        if (self.root / "run/nginx.pid").exists():
            self.run("nginx -s stop")

    def _certificate(self) -> None:
        folder = self.root / "etc/letsencrypt/live/localhost"
        folder.mkdir(parents=True)
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        files = ["-keyout", f"{folder}/privkey.pem", "-out", f"{folder}/fullchain.pem"]
        new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        subprocess.run([*new, *subject, *files], check=True, capture_output=True)

    def _archive(self, version: str) -> None:
        """Make what `make dist` makes, of the files as they are."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        ).stdout.decode()
        top = ("deploy", "ieim", "conversations", "review", "templates", "static", "locale")
        files = [ROOT / name for name in listed.split("\0") if name.partition("/")[0] in top]
        files += [ROOT / "manage.py", ROOT / "pyproject.toml"]
        files += (ROOT / "static/build").rglob("*")
        # What is built, of ours: an environment has catalogues of its own.
        files += (file for name in top for file in (ROOT / name).rglob("django.mo"))
        with tarfile.open(self.root / f"ieim-{version}.tar.gz", "w:gz", compresslevel=1) as tar:
            for file in dict.fromkeys(result for result in files if result.is_file()):
                content = file.read_bytes()
                if file.is_relative_to(ROOT / "deploy"):
                    content = self.here(content.decode()).encode()
                elif file.name == "pyproject.toml":
                    content = re.sub(rb'version = ".*"', f'version = "{version}"'.encode(), content)
                entry = tarfile.TarInfo(f"ieim-{version}/{file.relative_to(ROOT)}")
                entry.size, entry.mode = len(content), file.stat().st_mode & 0o777
                tar.addfile(entry, io.BytesIO(content))


@contextmanager
def machine(root: Path, model: str) -> Iterator[Machine]:
    """Run a new machine in ``root``; ``model`` is the address of a model server."""
    with services() as addresses:
        new = Machine(root, addresses["DATABASE_URL"], addresses["REDIS_URL"], model)
        new.set_up()
        try:
            yield new
        finally:
            new.end()
