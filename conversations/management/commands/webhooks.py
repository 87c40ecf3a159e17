"""``manage.py webhooks``: the webhooks of sessions, and their undelivered messages."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from conversations.models import Webhook
from conversations.webhooks import services

_NOTE = (
    "The secret of {name}. It is shown this once and can be replaced, not read: keep it where the "
    "program reads it."
)


class Command(BaseCommand):
    help = (
        "Keep the webhooks that sessions opened by REST can name: make one, give it another "
        "secret, stop, start or remove it, list them with what has not arrived, and send that "
        "again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        subparsers = parser.add_subparsers(dest="action", required=True, metavar="WHAT")
        add = subparsers.add_parser("add", help="make one and print its secret")
        add.add_argument("name")
        add.add_argument("url", metavar="URL", help="https://channel.example.org/ieim")
        add.add_argument(
            "--private",
            action="store_true",
            help="let the host be one of your own network, such as 10.0.0.5",
        )
        actions = {
            "rotate": "make another secret and print it; for a day both sign",
            "stop": "tell it nothing more; what has not arrived is given up",
            "start": "tell it again, of what happens from now on",
            "remove": "delete it, with what it was to be told",
        }
        for name, meaning in actions.items():
            subparsers.add_parser(name, help=meaning).add_argument("name")
        subparsers.add_parser("list", help="show them, and what was given up")
        again = subparsers.add_parser("again", help="send again what was given up")
        again.add_argument("ids", metavar="ID", nargs="*", type=UUID, help="none: all of it")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        try:
            getattr(self, f"_{action}")(**options)
        except services.Refused as refused:
            raise CommandError(str(refused)) from refused

    def _add(self, *, name: str, url: str, private: bool, **_: Any) -> None:
        self._print_secret(name, services.make(name=name, url=url, private=private))

    def _rotate(self, *, name: str, **_: Any) -> None:
        self._print_secret(name, services.rotate(name=name))

    def _print_secret(self, name: str, secret: str) -> None:
        # The secret alone on standard output: a program can take it.
        self.stderr.write(_NOTE.format(name=name))
        self.stdout.write(secret)

    def _stop(self, *, name: str, **_: Any) -> None:
        services.stop(webhook_id=_get_webhook(name).pk, why="operator")
        self.stdout.write(f"{name} is stopped: it is told nothing more.")

    def _start(self, *, name: str, **_: Any) -> None:
        services.start(name=name)
        self.stdout.write(f"{name} is told again of what happens from now on.")

    def _remove(self, *, name: str, **_: Any) -> None:
        services.remove(name=name)
        self.stdout.write(f"{name} is removed, with what it was to be told.")

    def _list(self, **_: Any) -> None:
        for webhook in services.overview():
            state = "stopped" if webhook.stopped_at else "started"
            counts = f"{webhook.waiting} waiting, {webhook.given_up} given up"
            self.stdout.write(f"{webhook.name}  {state}  {webhook.url}  {counts}")
        for delivery in services.given_up():
            at = delivery.happened_at.isoformat(timespec="seconds")
            self.stdout.write(
                f"  {delivery.pk}  {delivery.webhook.name}  {delivery.event}  "
                f"turn {delivery.turn_id}  {at}  {delivery.trouble}"
            )

    def _again(self, *, ids: list[UUID], **_: Any) -> None:
        delivery_ids = ids or [delivery.pk for delivery in services.given_up()]
        sent = services.send_again(deliveries=delivery_ids)
        self.stdout.write(f"{sent} of {len(delivery_ids)} are sent again.")
        if sent < len(delivery_ids):
            raise CommandError("The others were not given up, or their webhook is stopped.")


def _get_webhook(name: str) -> Webhook:
    webhook = Webhook.objects.filter(name=name).first()
    if webhook is None:
        raise services.Refused(f"There is no webhook {name!r}: see `manage.py webhooks list`.")
    return webhook
