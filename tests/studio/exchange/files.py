"""Files for the import pages: uploading them, and odd ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from openpyxl import Workbook

from tests.studio.admin.admin_pages import address

KINDS = ("csv", "xlsx", "yaml", "json")
MODELS = (
    *("agency", "category", "service", "label", "translation"),
    *("helpline", "riskexample", "casetext"),
)


def export(client: Client, model: str, kind: str) -> bytes:
    """Return the exported file."""
    answer = client.post(address(model, "export"), {"format": kind})
    assert answer.headers["Content-Disposition"].endswith(f'.{kind}"'), answer.content[:2000]
    return bytes(answer.content)


def preview(client: Client, model: str, kind: str, data: bytes) -> Any:
    """Upload a file; the page with the preview, or with what is wrong."""
    file = SimpleUploadedFile(f"mine.{kind}", data)
    page = client.post(address(model, "import"), {"file": file})
    assert page.status_code == 200
    return page


def confirm(client: Client, model: str, page: Any) -> Any:
    """Confirm a preview."""
    form = page.context["confirm_form"]
    return client.post(
        address(model, "process_import"), {bound.html_name: bound.value() for bound in form}
    )


def problems(page: Any) -> list[str]:
    """Return what the page says is wrong."""
    assert "confirm_form" not in page.context
    if problems := page.context.get("problems"):
        return [str(problem) for problem in problems]
    return [str(error) for error in page.context["form"].errors["file"]]


def workbook(rows: Sequence[Sequence[Any]], *titles: str) -> bytes:
    """A workbook with ``rows`` on its first sheet, of the sheets called ``titles``."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    sheet.title = titles[0] if titles else "services"
    for title in titles[1:]:
        book.create_sheet(title)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def repacked(data: bytes, part: str, content: bytes) -> bytes:
    """The workbook ``data`` with another ``part``."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, content if name == part else old.read(name))
    return out.getvalue()
