#!/usr/bin/env python
"""Django's command line. Reads ``.env`` beside it, where what is already set wins."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Run the command that was asked for."""
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import OperationalError, ProgrammingError
        from dotenv import load_dotenv
    except ImportError as error:
        sys.exit(f"{error}. Run `make setup` and use .venv/bin/python.")
    load_dotenv(Path(__file__).resolve().parent / ".env")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")
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
