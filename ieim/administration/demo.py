"""The settings of a city that does not exist, for a first look. For development only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from ieim.administration import services
from ieim.administration.models import Section

CONTENT: Mapping[str, Mapping[str, str]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)


def furnish() -> None:
    """Store the settings in ``demo.yaml``, where nothing is set yet."""
    if Section.objects.exists():
        return
    for name, content in CONTENT.items():
        typed = dict(content)
        logo = typed.pop("logo", None)
        picture = logo.encode() if logo else None
        services.change(name=name, typed=typed, version=0, by=None, logo=picture)
