"""The settings of a city that does not exist, for a first look. For development only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from django.core.files.uploadedfile import SimpleUploadedFile

from ieim.administration import services
from ieim.administration.forms import SECTIONS
from ieim.administration.models import Section

CONTENT: Mapping[str, Mapping[str, str]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)


def furnish() -> None:
    """Store the settings of ``demo.yaml`` unless something is set already."""
    if Section.objects.exists():
        return
    for name, content in CONTENT.items():
        files = {}
        if logo := content.get("logo"):
            files["logo_file"] = SimpleUploadedFile("logo.svg", logo.encode())
        form = SECTIONS[name](None, {**content, "logo": ""}, files)
        if not form.is_valid():
            raise ValueError(f"{name}: {form.errors}")
        services.change(form=form, version=0, by=None)
