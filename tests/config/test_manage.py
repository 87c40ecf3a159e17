"""`manage.py` where the database is not ready."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.environment.test_settings import django


@pytest.mark.parametrize(
    "database",
    ["", "postgresql://nobody@127.0.0.1:1/nothing"],
    ids=["empty SQLite", "no server"],
)
def test_it_says_what_to_do_about_a_database_that_is_not_ready(
    tmp_path: Path, database: str
) -> None:
    environment = {"DATABASE_URL": database} if database else {}
    code, result = django(tmp_path, environment, "ask", "I lost my passport")
    assert code == 1
    assert "manage.py migrate" in result
    assert "Traceback" not in result
