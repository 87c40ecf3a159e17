"""The catalogues as files: one ``.po`` a language, which people edit, and what is compiled of it.

``locale/<language>/LC_MESSAGES/django.po`` is in the repository; the ``.mo`` beside it, which
Django reads, is made by ``make setup`` and in the image. What only staff read is in
``locale/staff.pot``, for whoever begins to translate it: nobody has.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import django
from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils import dates, translation
from django.utils.translation import to_locale

from ieim.config.catalogues.gathering import gathered, gathered_for_staff

PLURALS = {
    "fr": "nplurals=2; plural=(n > 1);",
    "de": "nplurals=2; plural=(n != 1);",
    "es": "nplurals=2; plural=(n != 1);",
    "zh_Hans": "nplurals=1; plural=0;",
    "ar": (
        "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : "
        "n%100>=11 && n%100<=99 ? 4 : 5);"
    ),
    "fil": (
        "nplurals=2; plural=(n != 1 && n != 2 && n != 3 && (n % 10 == 4 || n % 10 == 6 || "
        "n % 10 == 9));"
    ),
}
"""How a new catalogue begins; its own header is what counts from then on."""


def paths() -> dict[str, Path]:
    """Return the catalogue of each language but the one that the code is written in."""
    (folder,) = settings.LOCALE_PATHS
    locales = (to_locale(code) for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE)
    return {each: Path(folder) / each / "LC_MESSAGES" / "django.po" for each in locales}


def read(path: Path, locale: str) -> Catalog:
    """Return a stored catalogue, an empty one where there is none."""
    if not path.exists():
        return Catalog(locale=locale, fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=locale)


def refreshed(path: Path, locale: str, template: Catalog) -> bytes:
    """Return a catalogue with the messages of ``template``: new ones are empty, old ones gone.

    Nothing is guessed: a sentence that changed is one to translate anew.
    """
    catalog = read(path, locale)
    catalog.update(template, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    return _written(catalog, _header(locale, path))


def staffs_path() -> Path:
    """Return where the sentences stand that only staff read."""
    (folder,) = settings.LOCALE_PATHS
    return Path(folder) / "staff.pot"


def staffs() -> bytes:
    """Return these sentences, none of them translated."""
    return _written(gathered_for_staff(), _lines("Content-Type: text/plain; charset=utf-8"))


def refresh() -> dict[str, int]:
    """Bring every catalogue up to date; returns how many messages each lacks."""
    template = gathered()
    staffs_path().write_bytes(staffs())
    lacks = {}
    for locale, path in paths().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(refreshed(path, locale, template))
        lacks[locale] = sum(not said(each.string) for each in read(path, locale) if each.id)
    return lacks


def said(string: str | tuple[str, ...] | list[str] | None) -> bool:
    """Whether a message is translated, in all its plural forms."""
    return bool(string) if isinstance(string, str) else bool(string and all(string))


def compile_stale() -> list[str]:
    """Compile the catalogues that changed since they were compiled; returns their languages."""
    done = list(_stale())
    for locale, path in done:
        compiled = path.with_suffix(".mo")
        # Whoever reads meanwhile reads the whole old one, or the whole new one.
        new = compiled.with_suffix(f".{locale}.new")
        with new.open("wb") as file:
            write_mo(file, _with_days(read(path, locale), locale))
        new.replace(compiled)
    return [locale for locale, _ in done]


def _with_days(catalog: Catalog, locale: str) -> Catalog:
    """Add the names of days and months where Django itself does not know the language."""
    if (Path(django.__file__).parent / "conf" / "locale" / locale).is_dir():
        return catalog
    told = Locale.parse(locale)
    wide, short = (told.months["format"][width] for width in ("wide", "abbreviated"))
    with translation.override(None):
        for number in range(12):
            catalog.add(str(dates.MONTHS[number + 1]), wide[number + 1])
            catalog.add(str(dates.MONTHS_3[number + 1]), short[number + 1])
            for names, context in (
                (dates.MONTHS_AP, "abbrev. month"),
                (dates.MONTHS_ALT, "alt. month"),
            ):
                form = short if names is dates.MONTHS_AP else wide
                catalog.add(str(names[number + 1]), form[number + 1], context=context)
        for number in range(7):
            days = told.days["format"]
            catalog.add(str(dates.WEEKDAYS[number]), days["wide"][number])
            catalog.add(str(dates.WEEKDAYS_ABBR[number]), days["abbreviated"][number])
    return catalog


def _stale() -> Iterator[tuple[str, Path]]:
    for locale, path in paths().items():
        compiled = path.with_suffix(".mo")
        if not compiled.exists() or compiled.stat().st_mtime < path.stat().st_mtime:
            yield locale, path


def _header(locale: str, path: Path) -> str:
    """Return the header: without a date, so that changes of two people meet where they differ."""
    plural = PLURALS[locale]
    if path.exists():
        told = dict(read(path, locale).mime_headers)
        plural = told.get("Plural-Forms", plural)
    return _lines(
        f"Language: {locale}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
        f"Plural-Forms: {plural}",
    )


def _lines(*lines: str) -> str:
    return "\n".join(f'"{line}\\n"' for line in lines)


def _written(catalog: Catalog, header: str) -> bytes:
    output = BytesIO()
    output.write(f'msgid ""\nmsgstr ""\n{header}\n\n'.encode())
    write_po(output, catalog, width=100, omit_header=True, include_lineno=False)
    return output.getvalue()
