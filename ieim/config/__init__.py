"""Settings and wiring: the top layer, the only one that reads the environment.

Every process imports this before it loads the settings. It reads ``.env``
beside ``manage.py``, where what is already set wins; only a process whose environment names its
settings module (a test, a benchmark) is left alone. The Celery app is imported here, so that each
process has it.
"""

from __future__ import annotations

import os
from pathlib import Path

from dotenv import load_dotenv

if "DJANGO_SETTINGS_MODULE" not in os.environ:
    load_dotenv(Path(__file__).resolve().parents[2] / ".env")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ieim.config.settings")

from ieim.config.celery import app as celery_app

__all__ = ["celery_app"]
