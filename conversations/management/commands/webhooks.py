"""``manage.py webhooks``: the webhooks of sessions, and their undelivered events."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count, Q, QuerySet

from conversations.models import Delivery, Webhook
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
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        add = actions.add_parser("add", help="make one and print its secret")
        add.add_argument("name")
        add.add_argument("url", metavar="URL", help="https://channel.example.org/ieim")
        add.add_argument(
            "--private",
            action="store_true",
            help="let the host be one of your own network, such as 10.0.0.5",
        )
        helps = {
            "rotate": "make another secret and print it; for a day both sign",
            "stop": "send it nothing more; what has not arrived is given up",
            "start": "send it what happens from now on",
            "remove": "delete it, with what has not arrived",
        }
        for name, text in helps.items():
            actions.add_parser(name, help=text).add_argument("name")
        actions.add_parser("list", help="show them, and what was given up")
        again = actions.add_parser("again", help="send again what was given up")
        again.add_argument("ids", metavar="ID", nargs="*", type=UUID, help="none: all of it")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        try:
            getattr(self, f"_{action}")(**options)
        except services.WebhookError as error:
            raise CommandError(str(error)) from error

    def _add(self, *, name: str, url: str, private: bool, **_: Any) -> None:
        self._print_secret(name, services.create(name=name, url=url, private=private))

    def _rotate(self, *, name: str, **_: Any) -> None:
        self._print_secret(name, services.rotate(name=name))

    def _print_secret(self, name: str, secret: str) -> None:
        # The secret alone on standard output: a program can take it.
        self.stderr.write(_NOTE.format(name=name))
        self.stdout.write(secret)

    def _stop(self, *, name: str, **_: Any) -> None:
        webhook = Webhook.objects.filter(name=name).first()
        if webhook is None:
            raise CommandError(f"There is no webhook {name!r}: see `manage.py webhooks list`.")
        services.stop(webhook_id=webhook.pk, why="operator")
        self.stdout.write(f"{name} is stopped: nothing more is sent to it.")

    def _start(self, *, name: str, **_: Any) -> None:
        services.start(name=name)
        self.stdout.write(f"{name} is started: what happens from now on is sent to it.")

    def _remove(self, *, name: str, **_: Any) -> None:
        services.remove(name=name)
        self.stdout.write(f"{name} is removed, with what had not arrived.")

    def _list(self, **_: Any) -> None:
        given_up = Count("deliveries", filter=Q(deliveries__given_up_at__isnull=False))
        waiting = Count("deliveries") - given_up
        for webhook in Webhook.objects.annotate(given_up=given_up, waiting=waiting):
            state = "stopped" if webhook.stopped_at else "started"
            counts = f"{webhook.waiting} waiting, {webhook.given_up} given up"
            self.stdout.write(f"{webhook.name}  {state}  {webhook.url}  {counts}")
        for delivery in _given_up().select_related("webhook"):
            happened_at = delivery.happened_at.isoformat(timespec="seconds")
            self.stdout.write(
                f"  {delivery.pk}  {delivery.webhook.name}  {delivery.event}  "
                f"turn {delivery.turn_id}  {happened_at}  {delivery.trouble}"
            )

    def _again(self, *, ids: list[UUID], **_: Any) -> None:
        delivery_ids = ids or list(_given_up().values_list("pk", flat=True))
        sent = sum(services.send_again(delivery_id=delivery_id) for delivery_id in delivery_ids)
        self.stdout.write(f"{sent} of {len(delivery_ids)} are sent again.")
        if sent < len(delivery_ids):
            raise CommandError("The others were not given up, or their webhook is stopped.")


def _given_up() -> QuerySet[Delivery]:
    return Delivery.objects.filter(given_up_at__isnull=False)
