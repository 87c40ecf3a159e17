"""Celery tasks of people."""

from __future__ import annotations

from celery import shared_task

from ieim.people import passwords


@shared_task(name=passwords.SEND_TASK, ignore_result=True)
def send_reset(address: str) -> None:
    """Send the accounts with this address a link for a new password."""
    passwords.send_links(address)
