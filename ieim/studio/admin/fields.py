"""Form fields of the draft: lists as lines, categories as ticks, what is fixed, what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.forms.renderers import BaseRenderer
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext


class Lines(forms.CharField):
    """A list of texts, edited one a line; blank lines do not count."""

    widget = forms.Textarea

    def __init__(self, *, rows: int = 5, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "cols": 48})
        super().__init__(widget=widget, required=False, strip=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Return what the text area holds."""
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        """Return the items."""
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether the lines differ: browsers send other line ends than they were given."""
        return self._lines(self.prepare_value(initial)) != self._lines(data)

    def _lines(self, text: str | None) -> list[str]:
        return [line.strip() for line in (text or "").splitlines() if line.strip()]


class Categories(forms.MultipleChoiceField):
    """Keys of one agency's dictionary, as ticks. ``dictionary`` is ``[(key, value)]``."""

    def __init__(
        self, dictionary: Sequence[tuple[str, str]], chosen: Sequence[str], **kwargs: Any
    ) -> None:
        known = dict(dictionary)
        choices = [(key, f"{value} ({key})" if value else key) for key, value in dictionary]
        # What was chosen and is no more must be seen, to be taken out.
        gone = [key for key in chosen if key not in known]
        over = gettext("{key} (no longer in the dictionary)")
        choices += [(key, over.format(key=key)) for key in gone]
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
        kept = [key for key in self._chosen if key in keys]
        return [*kept, *(key for key in keys if key not in kept)]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether the set differs."""
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
        """Return the text, for the field's label."""
        shown = "" if value is None else value
        told = (
            '<output class="readonly" id="{}">{}</output><input type="hidden" name="{}" value="{}">'
        )
        return format_html(told, (attrs or {}).get("id", ""), shown, name, shown)


class Seen(forms.IntegerField):
    """The version that the form was filled from. It is no change of its own."""

    widget = forms.HiddenInput

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Return False."""
        return False
