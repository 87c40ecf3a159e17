"""The form of an import."""

from __future__ import annotations

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext, gettext_lazy

from ieim.knowledge.bundles.formats import MAX_FILE_BYTES
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.studio.models import Agency


class UploadForm(forms.Form):
    """A file, and whose it is: people of single agencies import into theirs only."""

    file = forms.FileField(error_messages={"required": gettext_lazy("Choose a file.")})
    agency = forms.ChoiceField(
        required=False,
        error_messages={"invalid_choice": gettext_lazy("Choose an agency of the list.")},
    )

    def __init__(self, user: User, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        scope = agencies_of(user)
        agencies = Agency.objects.values_list("id", "name")
        choices = list(agencies if scope is None else agencies.filter(pk__in=scope))
        field = self.fields["agency"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - it is the one above
        all_of_it = ("", gettext("The agencies that the file names"))
        field.choices = choices if scope is not None else [all_of_it, *choices]
        field.required = scope is not None
        field.error_messages["required"] = gettext("Choose the agency that the file is for.")

    def clean_file(self) -> UploadedFile[bytes]:
        """Refuse a file that is too large before it is read."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // 2**20
            told = gettext("The file is larger than {limit} MiB: split it.")
            raise forms.ValidationError(told.format(limit=limit))
        return file
