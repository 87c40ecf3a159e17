"""Django's admin for the draft; releases and publications can only be looked at."""

from ieim.studio.admin import names

names.name()  # forms take them over as they are made

from ieim.studio.admin import draft, released  # noqa: E402  # once they are named

__all__ = ["draft", "released"]
