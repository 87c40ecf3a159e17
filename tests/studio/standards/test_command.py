from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from ieim.studio.models import Agency, Change, Service
from tests.studio.standards.samples.samples import HSDS, SCHEMA_ORG

pytestmark = pytest.mark.django_db


def run(*arguments: str | Path) -> str:
    out = StringIO()
    call_command("import_standard", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_it_imports_and_says_what_has_no_place() -> None:
    completed = run(HSDS)
    assert "services: 2 added, 0 changed, 0 unchanged" in completed
    assert (
        "left out 1 times: /contents/*/alternate_name: the index has no place for it" in completed
    )
    assert "Only the draft was changed" in completed
    assert Service.objects.count() == 2
    assert {change.by for change in Change.objects.all()} == {None}


def test_a_dry_run_changes_nothing() -> None:
    assert "Nothing was changed: this was a dry run." in run(SCHEMA_ORG, "--dry-run")
    assert not Agency.objects.exists()


def test_it_takes_the_file_for_an_agency() -> None:
    run(HSDS, "--agency", "homes")
    assert set(Service.objects.values_list("agency", flat=True)) == {"homes"}


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"{", "is not JSON"), (b'[{"id":"a","status":"active","name":"x"}]', "/0: names no agency")],
)
def test_it_lists_every_error(tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(content)
    errors = StringIO()
    with pytest.raises(CommandError, match="1 error; nothing was changed"):
        call_command("import_standard", str(file), stderr=errors)
    assert why in errors.getvalue()


def test_it_says_when_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file or directory"):
        run(tmp_path / "none.json")
