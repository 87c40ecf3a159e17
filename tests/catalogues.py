"""The sentences to translate and the catalogues that translate them: what `make messages` keeps."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from django.conf import settings
from django.utils.translation import to_locale

ROOT: Path = settings.BASE_DIR
LOCALES = [to_locale(code) for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def catalogue(locale: str) -> Catalog:
    """Return the stored catalogue of a language."""
    path = ROOT / "locale" / locale / "LC_MESSAGES" / "django.po"
    with path.open("rb") as file:
        return read_po(file, locale=locale)


@cache
def keywords() -> str:
    """Return the functions whose arguments are sentences, as the Makefile lists them for Babel."""
    (marks,) = re.findall(
        r"^MARKS\s*:= (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    return str(marks)


@cache
def gathered() -> Catalog:
    """Return what the code and the templates say to citizens, by the rules of ``babel.cfg``."""
    babel = (sys.executable, "-m", "babel.messages.frontend", "--quiet", "extract")
    skip = "--ignore-dirs=.* node_modules var tests"
    with tempfile.NamedTemporaryFile() as file:
        options = ("--mapping=babel.cfg", f"--keywords={keywords()}", skip, "-o", file.name)
        subprocess.run([*babel, *options, "."], cwd=ROOT, check=True)
        return read_po(file)
