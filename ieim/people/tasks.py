"""Celery tasks of people: an address in, the services do the work."""

from __future__ import annotations

from celery import shared_task

from ieim.people import resetting


@shared_task(name=resetting.SEND, ignore_result=True)
def send_reset(address: str) -> None:
    """Send whoever has an account with this address a link for a new password."""
    resetting.send(address)
