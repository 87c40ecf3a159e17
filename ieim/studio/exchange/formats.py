"""The four kinds of file, as django-import-export wants them."""

from __future__ import annotations

from typing import Any, ClassVar

from import_export.formats.base_formats import Format
from tablib import Dataset

from ieim.knowledge.bundles.rows import BundleProblem, Table
from ieim.studio.exchange.reading import Upload, read
from ieim.studio.exchange.writing import write


class Unreadable(Exception):
    """No row of the file can be read; ``problems`` says why."""

    def __init__(self, problems: list[BundleProblem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


class Sheet(Dataset):
    """A dataset with one column, the rows of ``upload``: they know their lines."""

    def __init__(self, upload: Upload) -> None:
        super().__init__(*([row] for row in upload.rows), headers=["row"])
        self.upload = upload


class TableFormat(Format):
    """One kind of file for one table of the draft."""

    kind: ClassVar[str]
    mime: ClassVar[str]
    table: ClassVar[Table]

    def __init__(self, encoding: str | None = None) -> None:
        self.encoding = encoding

    def get_title(self) -> str:
        """Return the name that people choose it by."""
        return self.kind

    def create_dataset(self, in_stream: bytes) -> Sheet:
        """Return the rows that can be read. Raises :class:`Unreadable` when none can."""
        upload = read(self.kind, self.table, in_stream)
        if not upload.rows:
            raise Unreadable(upload.problems)
        return Sheet(upload)

    def export_data(self, dataset: Dataset, **kwargs: Any) -> bytes:
        """Return the file. Raises ValueError, with a sentence, for what it cannot hold."""
        return write(self.kind, self.table, dataset.headers, list(dataset))

    def get_extension(self) -> str:
        """Return the ending."""
        return self.kind

    def get_content_type(self) -> str:
        """Return the media type."""
        return self.mime

    def can_import(self) -> bool:
        """Return True."""
        return True

    def can_export(self) -> bool:
        """Return True."""
        return True


_MIMES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "yaml": "application/yaml",
    "json": "application/json",
}


def formats_of(table: Table) -> list[type[TableFormat]]:
    """Return the formats of ``table``: CSV, XLSX, YAML, JSON."""
    return [
        type(f"{table}_{kind}", (TableFormat,), {"kind": kind, "mime": mime, "table": table})
        for kind, mime in _MIMES.items()
    ]
