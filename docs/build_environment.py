"""Write ``.env.example`` from ``ieim/config/environment.py``: ``python docs/build_environment.py``.

A test fails when the file is not up to date.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# Every environment variable that IEIM reads, with its default. Nothing is needed to try it.
# Copy this file to .env beside manage.py: every process reads it; what is already set wins over it.
# Only ieim/config reads variables; a value of white space counts as not set. Each may be given as
# NAME_FILE instead: the path of a file that holds the value, for secrets.
"""


def content() -> str:
    """Return the text of the file."""
    return "\n".join([HEAD.rstrip(), *_variables(), ""])


def _variables() -> Iterator[str]:
    sys.path.insert(0, str(ROOT))
    from ieim.config.environment import Environment

    for line in inspect.getsource(Environment).splitlines():
        if section := re.fullmatch(r"    # (--- .+? )-+", line):
            yield from ("", f"# {section[1]:-<97}")
        elif variable := re.match(r"    ([A-Z_]+): ", line):
            field = Environment.model_fields[variable[1]]
            # One without a text of its own belongs to the one before.
            if field.description:
                yield ""
                yield from (f"# {text}".rstrip() for text in field.description.splitlines())
            yield f"#{variable[1]}={_value(field)}"


def _value(field: FieldInfo) -> str:
    value: Any = field.examples[0] if field.examples else field.default
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list) else str("" if value is None else value)


if __name__ == "__main__":
    (ROOT / ".env.example").write_text(content(), encoding="utf-8")
