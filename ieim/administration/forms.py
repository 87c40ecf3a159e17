"""The sections of the settings as forms: their fields in order, each with label and check."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ieim.administration import checks, languages, logos
from ieim.administration.models import Logo, Section

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Kind = Literal["line", "short", "colour", "text", "lines", "logo", "languages", "switch"]
"""The element of a field: an input, a text area, or a choice."""

LEGAL: Final = "legal-"
"""The prefix of the sections of legal texts; the language follows."""
DAY_FIELDS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class SettingBoundField(forms.BoundField):
    """A field of a section, with what the template needs to show it."""

    form: SectionForm
    field: SettingField

    @property
    def stored(self) -> str | None:
        """The stored text if somebody else has saved another one meanwhile, else None."""
        stored: str = self.form.initial.get(self.name, "")
        return stored if self.form.has_conflict and self.value().strip() != stored else None

    @property
    def described_by(self) -> str:
        """The ids for ``aria-describedby``."""
        parts = {
            "hint": bool(self.help_text),
            "error": bool(self.errors),
            "stored": self.stored is not None,
        }
        return " ".join(f"{self.auto_id}-{name}" for name, is_shown in parts.items() if is_shown)

    @property
    def direction(self) -> str:
        return languages.direction(self.field.language) if self.field.language else "auto"

    @property
    def rows(self) -> int:
        """The height of the text area in lines."""
        return min(max(len(self.value().splitlines()) + 1, 3), 12)

    @property
    def languages(self) -> list[tuple[str, str, bool]]:
        """The languages to choose from: code, name, and whether it is chosen."""
        chosen = self.value().split() or list(languages.NAMES)
        return [(code, name, code in chosen) for code, name in languages.NAMES.items()]


class SettingField(forms.CharField):
    """One setting; ``check`` returns the text to store, or raises ValidationError."""

    bound_field_class = SettingBoundField

    def __init__(
        self,
        check: Callable[[str], str],
        label: StrOrPromise,
        help_text: StrOrPromise = "",
        kind: Kind = "line",
        language: str = "",
        widget: type[forms.TextInput] = forms.TextInput,
    ) -> None:
        super().__init__(required=False, widget=widget, label=label, help_text=help_text)
        self.check, self.kind, self.language = check, kind, language

    def clean(self, value: str | None) -> str:
        return self.check(value or "")

    def prepare_value(self, value: str | None) -> str:
        return value or ""


class LanguagesInput(forms.TextInput):
    """Checkboxes as one text: the codes, separated by spaces."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        return " ".join(data.getlist(name)) if hasattr(data, "getlist") else data.get(name, "")


class LogoInput(forms.TextInput):
    """The digest of the stored logo, "" if its checkbox takes it away."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        return "" if data.get("without_logo") else data.get(name, "")


class SectionForm(forms.Form):
    """A section, saved as a whole; ``language`` if its texts are in one.

    ``row`` is the stored section, None before it is first saved. ``picture`` is the unsaved row of
    a new logo. ``has_conflict``: somebody else has saved the section since the form was opened.
    """

    section: str
    title: StrOrPromise
    note: StrOrPromise
    language = ""
    picture: Logo | None = None
    has_conflict = False

    def __init__(self, row: Section | None = None, data: Any = None, files: Any = None) -> None:
        content = row.content if row else {}
        super().__init__(data, files, initial=content, auto_id=f"{self.section}-%s")
        self.row = row
        self.version = row.version if row else 0

    @property
    def content(self) -> dict[str, str]:
        """The texts to store, without blank ones."""
        return {name: text for name, text in self.cleaned_data.items() if text}


class SwitchesForm(SectionForm):
    section = "switches"
    title = _("Switched off")
    note = _("What stands still until you switch it on again. It works at once, and loses nothing.")

    chat = SettingField(
        checks.switch,
        _("The assistant’s page takes no questions"),
        _("The page says so. What was asked before is answered and can be read."),
        "switch",
    )
    api = SettingField(
        checks.switch,
        _("The citizens’ API is off"),
        _("Programs, and the channels that use it, are answered 503."),
        "switch",
    )
    model = SettingField(
        checks.switch,
        _("No model is asked"),
        _("Questions are taken and wait. After 30 minutes a person gets each of them."),
        "switch",
    )
    agencies = SettingField(
        checks.each_line(checks.agency, 100),
        _("Agencies for which the assistant does not answer"),
        _("One a line, by its id. A person reads every answer about them before it leaves."),
        "lines",
    )


class NameForm(SectionForm):
    section = "name"
    title = _("Name and logo")
    note = _("They stand at the top of every page, in its title, and in what is sent.")

    name = SettingField(
        checks.plain(80, required=True), _("Name"), _("In full: City of Northport.")
    )
    short_name = SettingField(
        checks.plain(24),
        _("Short name"),
        _("For the top of the page, on phones too. Without one the name stands there."),
    )
    logo = SettingField(
        checks.plain(64),
        _("Logo"),
        _("PNG or SVG, 100 KB at most; shown 40 pixels high. Metadata in it is removed."),
        "logo",
        widget=LogoInput,
    )

    def clean_logo(self) -> str:
        """Check a new file, or that the chosen logo is stored; return its digest."""
        file, sha256 = self.files.get("logo_file"), self.cleaned_data["logo"]
        if file and file.size:
            # One byte more than allowed shows that it is too large.
            media_type, data = logos.checked(file.read(logos.MAX_BYTES + 1))
            sha256 = hashlib.sha256(data).hexdigest()
            self.picture = Logo(
                sha256=sha256, media_type=media_type, content=data, added_at=timezone.now()
            )
        elif sha256 and not Logo.objects.filter(pk=sha256).exists():
            raise ValidationError(
                gettext("This logo is not there any more. Choose the file again.")
            )
        return str(sha256)


class ColoursForm(SectionForm):
    section = "colours"
    title = _("Colours")
    note = _(
        "The colour of links, buttons and the line at the top. Text in it has to be read by "
        "everybody, so its contrast is checked."
    )

    brand = SettingField(
        checks.brand, _("Colour"), _("# and six digits, such as #0d5a6c."), "colour"
    )
    brand_dark = SettingField(
        checks.brand_dark,
        _("Colour for dark screens"),
        _("Without one it is made from the other colour."),
        "colour",
    )


class NumbersForm(SectionForm):
    section = "numbers"
    title = _("Emergency and help numbers")
    note = _(
        "Shown on every page, and on “Talk to a person”. What somebody in danger is told by "
        "name stays with the help lines of the knowledge."
    )

    emergency = SettingField(
        checks.emergency,
        _("Emergency number"),
        _("To call when a life is in danger. Without one it is that of the installation."),
        "short",
    )
    help = SettingField(
        checks.each_line(checks.help_number),
        _("Help numbers"),
        _("One a line, who and the number: Crisis line: 116 123."),
        "lines",
    )
    exit = SettingField(
        checks.website,
        _("Page that “Leave this page quickly” opens"),
        _("For people in danger from somebody near them. Without one it is an encyclopedia."),
    )


class ContactsForm(SectionForm):
    section = "contacts"
    title = _("Contacts")
    note = _("How citizens reach people without the assistant.")

    telephone = SettingField(checks.telephone, _("Telephone"), _("Such as +49 30 901820."), "short")
    email = SettingField(checks.email, _("E-mail"))
    address = SettingField(
        checks.plain(300, lines=True), _("Address"), _("As on an envelope."), "lines"
    )
    website = SettingField(checks.website, _("Web page"), _("Such as https://www.example.org/."))


class HoursForm(SectionForm):
    section = "hours"
    title = _("Opening hours")
    note = _(
        "When somebody answers the telephone and the door. Leave a day empty when it is closed."
    )

    monday = SettingField(
        checks.opening, WEEKDAYS[0], _("Such as 09:00-17:00, or 08:00-12:00, 13:00-16:00."), "short"
    )
    tuesday = SettingField(checks.opening, WEEKDAYS[1], kind="short")
    wednesday = SettingField(checks.opening, WEEKDAYS[2], kind="short")
    thursday = SettingField(checks.opening, WEEKDAYS[3], kind="short")
    friday = SettingField(checks.opening, WEEKDAYS[4], kind="short")
    saturday = SettingField(checks.opening, WEEKDAYS[5], kind="short")
    sunday = SettingField(checks.opening, WEEKDAYS[6], kind="short")
    country = SettingField(
        checks.country,
        _("Closed on the public holidays of"),
        _("A country by its code, or a part of one: DE, or DE-BY. Empty for none."),
        "short",
    )
    closed = SettingField(
        checks.each_line(checks.closed_day, 40),
        _("Other days on which it is closed"),
        _("One a line: 2026-12-24, or 2026-12-24 to 2027-01-01: winter break."),
        "lines",
    )


class LanguagesForm(SectionForm):
    section = "languages"
    title = _("Languages")
    note = _("In which the citizen’s pages are offered.")

    offered = SettingField(checks.offered, _("Languages"), kind="languages", widget=LanguagesInput)


class ExamplesForm(SectionForm):
    section = "examples"
    title = _("Examples")
    note = _(
        "Questions on the first page, which citizens send with one press. Without any in a "
        "language there are none in it, but for those of the demo. Ask each yourself first."
    )


for _code, _name in languages.NAMES.items():
    ExamplesForm.base_fields[_code] = SettingField(
        checks.each_line(checks.plain(120), 6),
        _name,
        _("One a line, six at most.") if _code == "en" else "",
        "lines",
        _code,
    )


class AnswersForm(SectionForm):
    section = "answers"
    title = _("Answers")
    note = _(
        "Whose words citizens read. The services below an answer are always shown as they are."
    )

    own_words = SettingField(
        checks.switch,
        _("Show the assistant’s own words where they pass every check"),
        _(
            "They are marked as written by an automated assistant. Otherwise an answer over "
            "several agencies is told in the words of the service list, and a message that is no "
            "question is answered with your own text."
        ),
        "switch",
    )
    omit_stale = SettingField(
        checks.switch,
        _("Leave out a translated text whose original has changed"),
        _(
            "Until its translation is up to date. Otherwise the original stands in its place, with "
            "a note that it is not translated."
        ),
        "switch",
    )


class PersonaForm(SectionForm):
    section = "persona"
    title = _("Persona")
    note = _(
        "What a language model is told of itself at the beginning of every call, behind the "
        "rules of the software, which it cannot change. Citizens do not read it."
    )

    name = SettingField(
        checks.plain(60), _("Name"), _("As whom it speaks: the assistant of Northport.")
    )
    tone = SettingField(checks.plain(200), _("Tone"), _("Such as: calm, formal, short sentences."))
    policy = SettingField(
        checks.plain(1_000, lines=True),
        _("Policy"),
        _("What holds for every question. 1,000 characters; each is paid for with each call."),
        "text",
    )


class OtherSitesForm(SectionForm):
    section = "other_sites"
    title = _("Other sites")
    note = _(
        "Sites whose pages may show the assistant in a frame, and whose scripts may use the "
        "citizens’ API. No other site may."
    )

    origins = SettingField(
        checks.each_line(checks.origin, 20),
        _("Sites"),
        _("One a line, 20 at most, each as it begins in the browser: https://www.example.org."),
        "lines",
    )


_LEGAL_TEXTS: Final[Mapping[str, tuple[StrOrPromise, StrOrPromise]]] = {
    "controller": (
        _("Who is responsible"),
        _("Name and address of the controller of personal data."),
    ),
    "officer": (_("Data protection officer"), _("How to reach them.")),
    "purposes": (
        _("Purposes and legal basis"),
        _("What the data are for, and the law behind it."),
    ),
    "rights": (
        _("Rights"),
        _("What citizens may ask for: access, correction, erasure, objection."),
    ),
    "authority": (_("Supervisory authority"), _("Where citizens may complain.")),
    "imprint": (_("Imprint"), _("Who publishes this site.")),
    "barriers": (
        _("Contact for accessibility"),
        _("Whom to tell of a barrier, and how soon they answer."),
    ),
    "enforcement": (
        _("Enforcement of accessibility"),
        _("Who helps when that answer does not."),
    ),
}
LEGAL_FIELDS: Final = tuple(_LEGAL_TEXTS)


def _legal_form(code: str) -> type[SectionForm]:
    fields = {
        name: SettingField(checks.plain(3_000, lines=True), label, help_text, "text", code)
        for name, (label, help_text) in _LEGAL_TEXTS.items()
    }
    attributes = {
        "section": LEGAL + code,
        "title": format_lazy(_("Legal texts: {language}"), language=languages.NAMES[code]),
        "note": _(
            "Plain text; an empty line begins a paragraph. Addresses of pages and mail become "
            "links. They stand on the pages “Privacy” and “Accessibility statement”."
        ),
        "language": code,
    }
    return type("LegalForm", (SectionForm,), attributes | fields)


_FORMS: Final[Sequence[type[SectionForm]]] = (
    *(SwitchesForm, NameForm, ColoursForm, NumbersForm, ContactsForm, HoursForm),
    *(LanguagesForm, ExamplesForm, AnswersForm, PersonaForm, OtherSitesForm),
    *map(_legal_form, languages.NAMES),
)
SECTIONS: Final[Mapping[str, type[SectionForm]]] = {form.section: form for form in _FORMS}
"""The forms by section, in the order of the page."""
