"""Settings and wiring: the top layer, the only one that reads the environment.

The Celery app is imported here, so that every process that loads the settings has it.
"""

from __future__ import annotations

from ieim.config.celery import app as celery_app

__all__ = ["celery_app"]
