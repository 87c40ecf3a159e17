#!/usr/bin/env python
"""Django's command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that was asked for."""
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import OperationalError, ProgrammingError

        import ieim.config  # noqa: F401  # names the settings
    except ImportError as error:
        sys.exit(f"{error}. Run `make setup` and use .venv/bin/python.")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except (OperationalError, ProgrammingError) as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(
            f"The database cannot be used: {str(error).strip()}\n"
            "Check that it runs and that DATABASE_URL is right, then run `manage.py migrate`."
        )
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
