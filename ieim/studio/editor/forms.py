"""Forms of the draft, and their fields: they hold what was typed; editing has the rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.forms.renderers import BaseRenderer
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from ieim.knowledge.bundles.columns import COLUMNS, TRANSLATED
from ieim.knowledge.bundles.rows import IDENTITY
from ieim.knowledge.bundles.situations import line, parts
from ieim.knowledge.selectors import current_release
from ieim.knowledge.vectors import shortlist_for
from ieim.pipeline.knowledge import NO_NEXT
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import Problems, attribute
from ieim.studio.drafts.translations import kind_of, owner_of
from ieim.studio.editor.questions import lines_of
from ieim.studio.labels import column_label
from ieim.studio.models import Agency, Category, DraftEntry, Service, Situation, Translation

_KEY = re.compile(r"[\w.-]+")

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    Base = forms.ModelForm[DraftEntry]
else:
    Base = forms.ModelForm


class Suggesting(forms.Textarea):
    """A text, with a line at its end that is new where it is sent."""

    suggestion = ""

    def format_value(self, value: Any) -> str | None:
        return "\n".join(filter(None, (super().format_value(value), self.suggestion)))


class Lines(forms.CharField):
    """A list of texts, edited one a line; blank lines do not count."""

    widget = Suggesting

    def __init__(self, *, rows: int = 5, **kwargs: Any) -> None:
        widget = Suggesting(attrs={"rows": rows, "cols": 48})
        super().__init__(widget=widget, required=False, strip=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether the lines differ: browsers send other line ends than they were given."""
        return self._lines(self.prepare_value(initial)) != self._lines(data)

    def _lines(self, text: str | None) -> list[str]:
        return [line.strip() for line in (text or "").splitlines() if line.strip()]


class ServiceLines(Lines):
    """Services by their names, one a line; what stands behind a bar is left as it is.

    Its values are the lines of a bundle, which have ``agency/key``.
    """

    def names(self) -> dict[str, str]:
        """Return the draft's services by ``agency/key``, each as a line has it."""
        rows = Service.objects.values_list("agency_id", "key", "name")
        refs = ((f"{agency}/{key}", name.replace("|", "-")) for agency, key, name in rows)
        return {ref: f"{name} ({ref})" for ref, name in refs}

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, list) and value:
            names = self.names()
            value = [line(names.get(ref, ref), condition) for ref, condition in map(parts, value)]
        return super().prepare_value(value)

    def clean(self, value: Any) -> Any:
        """Return the lines; a name that several services have, or none, stays as it was typed."""
        lines, refs = super().clean(value), dict[str, list[str]]()
        for ref, name in self.names().items() if lines else ():
            for text in (ref, name, name.removesuffix(f" ({ref})")):
                refs.setdefault(text.casefold(), []).append(ref)
        found = ((refs.get(name.casefold(), ()), name, text) for name, text in map(parts, lines))
        return [line(ref[0] if len(ref) == 1 else name, text) for ref, name, text in found]


class Categories(forms.MultipleChoiceField):
    """Keys of one agency's dictionary, as ticks. ``dictionary`` is ``[(key, value)]``."""

    def __init__(
        self, dictionary: Sequence[tuple[str, str]], chosen: Sequence[str], **kwargs: Any
    ) -> None:
        keys = dict(dictionary)
        choices = [(key, f"{value} ({key})" if value else key) for key, value in dictionary]
        # What was chosen and is no more must be seen, to be taken out.
        missing = [key for key in chosen if key not in keys]
        over = gettext("{key} (no longer in the dictionary)")
        choices += [(key, over.format(key=key)) for key in missing]
        self._chosen = list(chosen)
        super().__init__(
            choices=choices,
            required=False,
            widget=forms.CheckboxSelectMultiple(attrs={"class": "radiolist"}),
            **kwargs,
        )

    def clean(self, value: Any) -> Any:
        """Return the keys; those that were chosen before stay in their order."""
        keys = super().clean(value)
        ordered = [key for key in self._chosen if key in keys]
        return [*ordered, *(key for key in keys if key not in ordered)]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return set(initial or ()) != set(data or ())


class Fixed(forms.Widget):
    """The value of a field that can only be read, as text.

    It is posted as well: should its entry be removed meanwhile, it is part of the one to add again.
    """

    def render(
        self,
        name: str,
        value: Any,
        attrs: dict[str, Any] | None = None,
        renderer: BaseRenderer | None = None,
    ) -> SafeString:
        text = "" if value is None else value
        output = (
            '<output class="readonly" id="{}">{}</output><input type="hidden" name="{}" value="{}">'
        )
        return format_html(output, (attrs or {}).get("id", ""), text, name, text)


class Seen(forms.IntegerField):
    """The version that the form was filled from. It is no change of its own."""

    widget = forms.HiddenInput

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False


class DraftForm(Base):
    """One entry. ``problems`` are what editing has refused of it."""

    problems: ClassVar[Problems] = {}
    seen = Seen(required=False, label=gettext_lazy("Seen"))
    position = forms.IntegerField(
        label=gettext_lazy("Position"),
        required=False,
        min_value=0,
        max_value=1_000_000,
        help_text=gettext_lazy(
            "Entries are listed in this order, lowest first. Blank: at the end."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = bool(self.instance.pk and not self.instance._state.adding)
        if stored:
            self.initial["seen"] = self.instance.version
        elif not self.is_bound:
            self.initial.pop("position", None)
        for name in IDENTITY[self.instance.table]:
            if name in self.fields:
                _fixed(self.fields[name], stored=stored)
        # The widget takes a new line as it is, so no text is trimmed behind anybody's back.
        for name, field in self.fields.items():
            if isinstance(field, forms.CharField) and name not in IDENTITY[self.instance.table]:
                field.strip = False
            if name in COLUMNS[self.instance.table]:
                field.label = column_label(name)
                if field.help_text == f"{field.label}.":
                    field.help_text = ""

    def _post_clean(self) -> None:
        """Leave the entry alone: editing has the rules, and is the only one to write."""

    def clean(self) -> dict[str, Any]:
        """Return the values, after showing what breaks a rule and what was refused before."""
        self._typed = dict(self.cleaned_data)
        wrong: Mapping[int, Problems] = {}
        if self.instance._state.adding or self.has_changed():
            edit = editing.Edit(self.values(), self.seen_version())
            wrong = editing.problems_of(table=self.instance.table, edits=[edit])
        self.show_problems(self.problems)
        # Of a field in which the form itself finds something wrong, that is enough.
        self.show_problems(
            {name: texts for name, texts in wrong.get(0, {}).items() if name not in self.errors}
        )
        name = IDENTITY[self.instance.table][-1]
        key = self.cleaned_data.get(name) if name in ("id", "key") else None
        if self.instance._state.adding and key and not _KEY.fullmatch(key):
            message = gettext("Write it with letters, digits, dots, hyphens and underscores alone.")
            self.add_error(name, message)
        return self.cleaned_data

    def show_problems(self, problems: Problems) -> None:
        """Show problems at their field where that is shown, else above all fields."""
        for column, column_problems in problems.items():
            if column in self._shown():
                self.add_error(column, [sentence(problem.short) for problem in column_problems])
            else:
                self.add_error(None, [sentence(problem.text) for problem in column_problems])

    def _shown(self) -> set[str]:
        return {bound.name for bound in self.visible_fields()}

    def values(self) -> dict[str, Any]:
        """Return the bundle's columns that the form has, with the natural id of its entry.

        Also what breaks a rule is among them, as far as it could be read.
        """
        entry: Any = self.instance
        values: dict[str, Any] = {}
        typed = getattr(self, "_typed", self.cleaned_data)
        for name in COLUMNS[entry.table]:
            if name in self.fields:
                value = typed.get(name)
                if isinstance(value, str) and not isinstance(self.fields[name], Lines):
                    # Browsers send CR LF for a new line.
                    value = value.replace("\r\n", "\n")
                if isinstance(self.fields[name], Lines) and name not in self.changed_data:
                    value = getattr(entry, name)
                values[name] = value.pk if isinstance(value, Agency) else value
            elif name in IDENTITY[entry.table]:
                values[name] = getattr(entry, attribute(name)) or ""
        if self.cleaned_data.get("position") is not None:
            values["position"] = self.cleaned_data["position"]
        return values

    def seen_version(self) -> int | None:
        if self.instance._state.adding:
            return None
        return self.cleaned_data.get("seen") or 0


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _fixed(field: forms.Field, *, stored: bool) -> None:
    """Say that a field names its entry for good: by it other entries and answers refer to it."""
    field.disabled = stored
    if stored and isinstance(field, forms.CharField):
        field.widget = Fixed()
    before = gettext("Once it is saved this cannot be changed.")
    hint = gettext("This cannot be changed any more.") if stored else before
    field.help_text = f"{field.help_text} {hint}".strip()


def _places(which: StrPromise) -> Lines:
    hint = gettext_lazy("Name, comma and address, one a line: “City Hall, Market Square 1”.")
    return Lines(label=gettext_lazy("Places"), rows=3, help_text=format_lazy("{} {}", hint, which))


def _hours(which: StrPromise) -> Lines:
    hint = gettext_lazy(
        "One a line: “Mo-Fr 09:00-16:00” or “Tu,Th 13:00-18:00”. What differs on a date: "
        "“2026-12-24 closed”, “2026-12-27 to 2027-01-01 closed (winter break)” or "
        "“2026-12-31 09:00-12:00”."
    )
    label = gettext_lazy("Opening hours")
    return Lines(label=label, rows=4, help_text=format_lazy("{} {}", hint, which))


_OF_ALL = gettext_lazy("They are those of every service that has no contact of its own.")
_OF_ONE = gettext_lazy("Blank: those of the agency.")


class AgencyForm(DraftForm):
    places = _places(_OF_ALL)
    hours = _hours(_OF_ALL)

    class Meta:
        model = Agency
        fields = list(COLUMNS["agencies"])


class CategoryForm(DraftForm):
    keywords = Lines(
        label=gettext_lazy("Keywords"),
        rows=3,
        help_text=gettext_lazy("Other words that citizens use for it, one a line."),
    )

    class Meta:
        model = Category
        fields = list(COLUMNS["dictionary"])


def _questions(help_text: StrPromise) -> Lines:
    return Lines(
        label=gettext_lazy("Questions that people ask"),
        rows=10,
        # Compared with what the page had: what others have changed meanwhile stays as it is.
        show_hidden_initial=True,
        help_text=help_text,
    )


class AskedForm(DraftForm):
    """An entry with its example questions: a field ``questions`` beside its columns.

    Those in ``initial`` are suggested beside what is stored.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        instance: Any = self.instance
        if instance.pk:
            suggested = self.initial.get("questions", [])
            self.initial["questions"] = lines_of(instance)
            widget = self.fields["questions"].widget
            if isinstance(widget, Suggesting) and not self.is_bound:
                widget.suggestion = "\n".join(suggested)

    def question_lines(self, change: bool) -> tuple[list[str], list[str]]:
        """Return the questions as the page had them, and as they were typed."""
        bound = self["questions"]
        name = bound.html_initial_name if change else ""
        before = bound.field.clean(self.data.get(name, ""))
        return before, self.cleaned_data["questions"]


class ServiceForm(AskedForm):
    requirements = Lines(help_text=gettext_lazy("What the citizen needs, one a line."))
    how_to_apply = Lines(help_text=gettext_lazy("The steps in their order, one a line."))
    next_services = Lines(
        label=gettext_lazy("Next services"),
        rows=3,
        help_text=gettext_lazy(
            "What comes next, as agency/key, one a line, offered at the end of an answer. Blank: "
            "what the steps and requirements name. A hyphen alone: nothing."
        ),
    )

    amounts = Lines(
        label=gettext_lazy("Amounts"),
        rows=3,
        help_text=gettext_lazy(
            "Amount and currency, and in brackets what it is for, one a line: “45.00 EUR” or "
            "“0 EUR (children)”, which is free of charge. Citizens read them in their own language "
            "where the text about fees does not say them."
        ),
    )
    places = _places(_OF_ONE)
    hours = _hours(_OF_ONE)
    questions = _questions(
        gettext_lazy(
            "Write five or more that differ, one a line, as people ask them and not as the office "
            "calls it: by them the search finds the service. Before one in another language write "
            "its code: “de: Wo bekomme ich einen Pass?”. Citizens never see them."
        )
    )

    class Meta:
        model = Service
        fields = list(COLUMNS["services"])
        widgets = {"read_on": forms.TextInput({"type": "date"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        service: Any = self.instance
        if service.pk:
            self.fields["next_services"].help_text += f" {_found(service)}"
        agency = service.agency_id or self.data.get("agency") or self.initial.get("agency")
        rows = Category.objects.filter(agency=agency) if agency else Category.objects.none()
        dictionary = list(rows.values_list("key", "value"))
        if not agency:
            help_text = gettext("Save first, then choose them.")
        elif dictionary:
            help_text = gettext("From the agency's dictionary.")
        else:
            help_text = gettext("The agency's dictionary is empty: add entries to it first.")
        self.fields["categories"] = Categories(
            dictionary, service.categories, label=gettext_lazy("Categories"), help_text=help_text
        )

    def clean_next_services(self) -> list[str]:
        """Return the references; refuse those of which there is no service in the draft."""
        refs: list[str] = self.cleaned_data["next_services"]
        pairs = Service.objects.values_list("agency_id", "key") if refs else ()
        references = {NO_NEXT, *(f"{agency}/{key}" for agency, key in pairs)}
        for ref in refs:
            if ref not in references:
                message = gettext("There is no service {name}: write agency/key.")
                raise forms.ValidationError(message.format(name=ref[:200]))
        return refs


def _found(service: Service) -> str:
    """Say what the current release found for a service, for who may want to put it right."""
    release = current_release()
    published = release and release.services.get((service.agency_id, service.key))
    if release is None or not published or published.next_services:
        return ""
    links = shortlist_for(release).next_services(published)
    if not links:
        return gettext("Nothing is found in the current release.")
    names = "; ".join(f"{link.service.reference} (“{link.sentence}”)" for link in links)
    return gettext("Found in the current release: {names}.").format(names=names)


class SituationForm(AskedForm):
    services = ServiceLines(
        label=gettext_lazy("Services"),
        rows=10,
        help_text=gettext_lazy(
            "What to do, in order, one a line. Who it is for, where not for everybody, stands "
            "behind a bar: “Copy of a marriage certificate | if you were married”."
        ),
    )
    questions = _questions(
        gettext_lazy(
            "Write five or more that differ, one a line, as people say it: what has happened, and "
            "not what they need from which office. By them the search finds the situation. Before "
            "one in another language write its code: “de: Wir bekommen ein Kind”. Citizens never "
            "see them."
        )
    )

    class Meta:
        model = Situation
        fields = list(COLUMNS["situations"])


class TranslationForm(DraftForm):
    keywords = Lines(label=gettext_lazy("Keywords"), rows=3, help_text=gettext_lazy("One a line."))
    requirements = Lines(help_text=gettext_lazy("One a line."))
    how_to_apply = Lines(help_text=gettext_lazy("One a line."))
    conditions = Lines(
        label=gettext_lazy("Conditions"),
        rows=10,
        help_text=gettext_lazy(
            "For whom each service is, one a line: the service, a bar and the translated condition."
        ),
    )

    class Meta:
        model = Translation
        fields = list(COLUMNS["translations"])


class OwnTranslationForm(TranslationForm):
    """The texts that the translation of one entry has; what it is of is known."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        instance: Any = self.instance
        shown = {*TRANSLATED[kind_of(owner_of(instance))], "seen"}
        for name in self.fields.keys() - shown:
            del self.fields[name]
