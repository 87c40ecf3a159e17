"""The step of `make test` that looks at migrations: it stops what old software cannot live with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

import review.migrations
from tests import migrations

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

UNSAFE = {
    "a column is dropped": 'RemoveField("reviewitem", "reason")',
    "a column is renamed": 'RenameField("reviewitem", "reason", "why")',
    "a table is dropped": 'DeleteModel("reviewitem")',
    "a column must be filled": 'AddField("reviewitem", "more", models.TextField(default=""))',
}
SAFE = {
    "a column may be empty": 'AddField("reviewitem", "more", models.TextField(null=True))',
    "the database fills it": 'AddField("reviewitem", "more", models.TextField(db_default=""))',
    "a new table": 'CreateModel("More", [("id", models.BigAutoField(primary_key=True))])',
}


@pytest.fixture
def then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let an operation come after review's first migration, for this test only."""

    def add(operation: str) -> None:
        package = f"migrations_of_{tmp_path.name}"
        shutil.copytree(Path(review.migrations.__path__[0]), tmp_path / package)
        (tmp_path / package / "0002_of_a_test.py").write_text(
            "from django.db import migrations, models\n\n\n"
            "class Migration(migrations.Migration):\n"
            '    dependencies = [("review", "0001_initial")]\n'
            f"    operations = [migrations.{operation}]\n",
            encoding="utf-8",
        )
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(settings, "MIGRATION_MODULES", {"review": package})

    return add


def test_the_migrations_that_there_are_are_safe() -> None:
    assert migrations.lint() == []


@pytest.mark.parametrize("operation", UNSAFE.values(), ids=UNSAFE.keys())
def test_it_stops_what_old_software_cannot_live_with(
    then: Callable[[str], None], operation: str
) -> None:
    then(operation)
    assert migrations.lint() == ["review.0002_of_a_test"]


@pytest.mark.parametrize("operation", SAFE.values(), ids=SAFE.keys())
def test_it_lets_pass_what_old_software_does_not_notice(
    then: Callable[[str], None], operation: str
) -> None:
    then(operation)
    assert migrations.lint() == []
