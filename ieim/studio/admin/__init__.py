"""Django's admin for the draft; releases and publications can only be looked at."""

from ieim.studio.admin import draft, released

__all__ = ["draft", "released"]
