"""The command that loads a bundle."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ieim.audit.models import AuditEvent
from ieim.knowledge import selectors
from ieim.knowledge.models import Release
from ieim.studio.drafts import selectors as drafts
from ieim.studio.models import Agency, Service
from tests.knowledge.bundles import tables, write

pytestmark = pytest.mark.django_db

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def load(path: Path, **options: Any) -> tuple[str, str]:
    """Run the command; returns what it wrote to stdout and stderr."""
    out, err = StringIO(), StringIO()
    call_command("load_knowledge", str(path), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_it_changes_only_the_draft_without_publish(tmp_path: Path) -> None:
    out, _ = load(write(tmp_path, tables()))
    assert "services: 2 added, 0 changed, 0 removed, 0 unchanged" in out
    assert "Only the draft was changed" in out
    assert Service.objects.count() == 2
    assert selectors.current_number() is None


def test_it_publishes_with_a_note(tmp_path: Path) -> None:
    out, err = load(write(tmp_path, tables()), publish=True, note="New fees")
    assert "Published as release 1." in out
    assert "Warning: 1 service has no overview" in err
    assert Release.objects.get().note == "New fees"


def test_it_prints_one_object_for_scripts(tmp_path: Path) -> None:
    folder = write(tmp_path, tables())
    first = json.loads(load(folder, publish=True, json=True)[0])
    assert first["tables"]["agencies"] == {
        "added": 2,
        "changed": 0,
        "removed": 0,
        "unchanged": 0,
    }
    assert (first["published"], first["release"], len(first["warnings"])) == (True, 1, 1)
    second = json.loads(load(folder, publish=True, json=True)[0])
    assert (second["published"], second["release"]) == (False, 1)


def test_it_says_when_there_is_nothing_to_publish(tmp_path: Path) -> None:
    folder = write(tmp_path, tables())
    load(folder, publish=True)
    assert "Nothing to publish: release 1 is the same." in load(folder, publish=True)[0]
    assert Release.objects.count() == 1


def test_it_lists_every_error_and_changes_nothing(tmp_path: Path) -> None:
    load(write(tmp_path / "good", tables()), publish=True)
    before, events = drafts.draft(), AuditEvent.objects.count()
    content = tables()
    content["agencies"][0]["name"] = "Changed"
    content["services"][0]["fees"] = 80
    content["services"].append({"agency": "tax", "key": "new"})
    bad = write(tmp_path / "bad", content)
    err = StringIO()
    with pytest.raises(CommandError, match="2 errors; nothing was changed") as caught:
        call_command("load_knowledge", str(bad), publish=True, stderr=err)
    assert caught.value.returncode == 1
    assert err.getvalue().splitlines() == [
        f"{bad}/services.jsonl:1: fees must be text, this is a number: put it in quotes",
        f"{bad}/services.jsonl:3: name is missing: fill it in",
    ]
    assert drafts.draft() == before
    assert selectors.current_number() == 1
    assert AuditEvent.objects.count() == events


def test_it_changes_nothing_when_the_bundle_cannot_be_published(tmp_path: Path) -> None:
    load(write(tmp_path / "good", tables()))
    before = drafts.draft()
    content = tables()
    content["services"] = []
    bad = write(tmp_path / "bad", content)
    err = StringIO()
    with pytest.raises(CommandError, match="nothing was changed"):
        call_command("load_knowledge", str(bad), publish=True, remove=True, stderr=err)
    assert "The draft has no services" in err.getvalue()
    assert drafts.draft() == before


def test_it_takes_a_note_only_with_a_release(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="give --publish too"):
        load(write(tmp_path, tables()), note="x")
    assert not Agency.objects.exists()


def test_it_stores_a_note_that_is_not_utf8(tmp_path: Path) -> None:
    load(write(tmp_path, tables()), publish=True, note="caf\udce9")
    assert Release.objects.get().note == "caf?"


def fewer(folder: Path, count: int) -> Path:
    """A bundle of twenty services, or of the first ``kept`` of them."""
    content = tables()
    first = content["services"][0]
    content["services"] = [first | {"key": f"s{n}", "name": f"Service {n}"} for n in range(count)]
    return write(folder, content)


def test_it_removes_a_tenth(tmp_path: Path) -> None:
    load(fewer(tmp_path / "all", 20), publish=True)
    out, _ = load(fewer(tmp_path / "fewer", 18), publish=True)
    assert "services: 0 added, 0 changed, 2 removed, 18 unchanged" in out
    assert "Published as release 2." in out


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("publish", [False, True])
def test_it_removes_no_more_unless_told_to(tmp_path: Path, publish: bool, dry_run: bool) -> None:
    load(fewer(tmp_path / "all", 20), publish=True)
    before, events = drafts.draft(), AuditEvent.objects.count()
    less = fewer(tmp_path / "fewer", 17)
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError, match="1 error; nothing was changed"):
        call_command(
            *("load_knowledge", str(less)),
            publish=publish,
            dry_run=dry_run,
            stdout=out,
            stderr=err,
        )
    assert "services: 0 added, 0 changed, 3 removed, 17 unchanged" in out.getvalue()
    assert err.getvalue() == (
        "services: 3 of 20 would be removed, more than a tenth. Look at the bundle; give --remove "
        "if it is meant.\n"
    )
    assert (drafts.draft(), AuditEvent.objects.count()) == (before, events)
    assert selectors.current_number() == 1

    load(less, publish=publish, dry_run=dry_run, remove=True)
    assert Service.objects.count() == (20 if dry_run else 17)


def test_a_dry_run_says_the_same_and_changes_nothing(tmp_path: Path) -> None:
    load(write(tmp_path / "good", tables()), publish=True)
    before, events = drafts.draft(), AuditEvent.objects.count()
    content = tables()
    content["services"][0]["fees"] = "80 euros"
    content["agencies"].append({"id": "new", "name": "New"})
    other = write(tmp_path / "other", content)
    result = load(other, publish=True, dry_run=True)[0]
    data = json.loads(load(other, publish=True, dry_run=True, json=True)[0])
    assert (drafts.draft(), AuditEvent.objects.count()) == (before, events)
    assert (Release.objects.count(), selectors.current_number()) == (1, 1)
    output = load(other, publish=True)[0]
    assert result.splitlines()[:-1] == output.splitlines()[:-1]
    assert "agencies: 1 added, 0 changed, 0 removed, 2 unchanged" in result
    assert result.splitlines()[-1] == "Nothing was changed: this was a dry run."
    assert (data["dry_run"], data["published"], data["release"]) == (True, False, 2)


def test_it_ends_with_1_and_no_traceback_from_a_shell(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "django", "load_knowledge", str(tmp_path / "nowhere")],
        capture_output=True,
        text=True,
    )
    assert process.returncode == 1
    assert process.stdout == ""
    assert "nowhere: does not exist" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the catalogues in ../shared/data")
@pytest.mark.parametrize(
    ("name", "agencies", "services"),
    [("us", 5, 451), ("us_life_events", 7, 30), ("ca", 70, 1431), ("ke", 286, 5489)],
)
def test_it_loads_a_real_catalogue(name: str, agencies: int, services: int) -> None:
    load(DATA / "catalogues" / name, publish=True)
    release = selectors.current_release()
    assert release is not None
    assert (len(release.agencies), len(release.services)) == (agencies, services)
