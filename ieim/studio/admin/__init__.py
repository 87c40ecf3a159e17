"""Django's admin for the draft; releases and publications can only be looked at."""

from ieim.studio.admin import names

names.set_names()  # forms take them over as they are made

from ieim.studio.admin import tables  # noqa: E402  # once they are named

__all__ = ["tables"]
