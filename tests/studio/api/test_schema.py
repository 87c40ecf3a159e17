"""The editors' part of the OpenAPI document against the API itself."""

from __future__ import annotations

import pytest
import schemathesis

from tests.conversations.api.test_schema import load
from tests.studio.api.editing_api import ROOT
from tests.studio.api.test_files import XLSX

pytestmark = pytest.mark.usefixtures("published")

# The rules of the knowledge are more than shape (422), and so is what is there (404, 412).
_RIGHT = ["2xx", "400", "401", "404", "412", "422", "428"]
_WRONG = ["400", "401", "403", "404", "412", "413", "415", "422", "428"]
# A workbook is bytes like any others here: what it must be inside is 422.
schemathesis.serializer.alias(XLSX, "application/octet-stream")
documented = load(
    checks={
        "positive_data_acceptance": {"expected-statuses": _RIGHT},
        "negative_data_rejection": {"expected-statuses": _WRONG},
    },
    generation={"allow-x00": False},
).include(path_regex=f"^{ROOT}")


def test_it_documents_what_editors_can_do() -> None:
    operations = {
        (operation.method.upper(), operation.path.removeprefix(ROOT))
        for result in documented.get_all_operations()
        for operation in [result.ok()]
    }
    tables = ("agencies", "dictionary", "services", "labels", "translations")
    for table in tables:
        assert ("GET", f"{table}/") in operations
        assert {("GET", f"{table}/file/"), ("POST", f"{table}/file/")} <= operations
        assert {(m, f"{table}/entry/") for m in ("GET", "PUT", "DELETE")} <= operations
    assert {("POST", "standards/file/"), ("POST", "dictionary/changes/")} <= operations
    assert {("POST", "proposals/"), ("POST", "proposals/{id}/publish/")} <= operations
