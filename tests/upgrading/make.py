"""The database of this version, kept for the tests of later ones: python -m tests.upgrading.make

Made by the real services: the demo knowledge as a release, the demo accounts, one conversation with
an answer and a review item that a caseworker decided. Run once a version, just before its release.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command

from tests import services
from tests.checks import ROOT, clean_environment

FOLDER = Path(__file__).resolve().parent
SECRET = "kept-for-the-tests-of-later-versions-012345"
"""What the conversation's resume link ends with."""
QUESTION = "I want to extend my tourist visa"
WRITTEN = "Please bring your passport to the counter of your town hall."
"""What the caseworker wrote."""


def fill() -> None:
    """Fill the empty database of this process's environment."""
    django.setup()
    # They need the settings.
    from ieim.config import demo
    from ieim.people.models import User
    from review import claims
    from review.models import Action
    from tests.review import desk

    call_command("migrate", verbosity=0)
    call_command("load_knowledge", "ieim/knowledge/demo", publish=True, verbosity=0)
    demo.create_accounts()
    desk.ask(QUESTION, {}, secret=SECRET)
    stopped = desk.ask(desk.BABY, {"agency_detect_v1": desk.BAD}, secret=SECRET)
    item, person = desk.the_item(stopped), User.objects.get(username="caseworker")
    claims.claim(item_id=item.pk, actor=person)
    desk.decide(item, person, Action.WRITE, text=WRITTEN)
    call_command("checkpoint_audit", verbosity=0)
    call_command("verify_audit")


def main() -> None:
    """Write this version's dumps, of each database, beside this file."""
    version = settings.IEIM_VERSION
    with tempfile.TemporaryDirectory(prefix="ieim-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the postgres user has to get to its own folder in it
        _fill({"IEIM_DATA_DIR": name})
        with closing(sqlite3.connect(folder / "ieim.sqlite3")) as database:
            # Not as SQL: the tables of the full-text search cannot be read back from it.
            database.execute("VACUUM INTO ?", [str(folder / "kept")])
        _write(f"{version}.sqlite3.gz", (folder / "kept").read_bytes())
        with services.postgres(folder) as address:
            _fill({"IEIM_DATA_DIR": name, "DATABASE_URL": address})
            _write(f"{version}.postgresql.sql.gz", _dump(address).encode())


def _fill(variables: Mapping[str, str]) -> None:
    environment = {**clean_environment(), "IEIM_EMBEDDINGS": "none", **variables}
    command = [sys.executable, "-m", "tests.upgrading.make", "fill"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def _dump(address: str) -> str:
    programs = services.postgres_bin()
    program = shutil.which("pg_dump", path=str(programs)) or "pg_dump"
    command = [program, "--inserts", "--rows-per-insert=200", "--no-owner", "--no-privileges"]
    done = subprocess.run([*command, address], check=True, capture_output=True, text=True)
    # Lines for psql alone: the tests send the rest as it is.
    return "\n".join(line for line in done.stdout.split("\n") if not line.startswith("\\"))


def _write(name: str, data: bytes) -> None:
    path = FOLDER / name
    path.write_bytes(gzip.compress(data, compresslevel=9, mtime=0))
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")
    if sys.argv[1:] == ["fill"]:
        fill()
    else:
        main()
