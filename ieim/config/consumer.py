"""The consumer of a worker, which outlives a broker that goes away."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from celery.bootsteps import RUN  # type: ignore[attr-defined]  # the stubs lack it
from celery.utils.log import worker_logger
from celery.worker import consumer

from ieim.config.logs import away

RESTART_DELAY = 1.0
"""Seconds before the consumer is started again: what fails at once must not fill the log."""


class LastingConsumer(consumer.Consumer):
    """A consumer that starts again in its process after an error that Celery does not expect.

    Kombu has one: where Redis is killed while tasks run, it closes the broken connection twice, and
    the second time is an AttributeError. A worker that ends takes ten seconds to be back.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Workers need not know of each other, and waiting for greetings takes a second.
        super().__init__(*arguments, **options, without_mingle=True, without_gossip=True)

    def ensure_connected(self, conn: Any) -> Any:
        """Connect to the broker, with a try a second: Kombu would wait up to 30 between two."""
        conn.ensure_connection = partial(conn.ensure_connection, interval_start=1, interval_step=0)
        return super().ensure_connected(conn)

    def call_soon_ack(self, p: Any, *args: Any, **kwargs: Any) -> Any:
        """Acknowledge a message, unless its connection is gone.

        The broker gives such a message out again, and the AttributeError that Kombu ends in would
        take the new connection with it.
        """
        transport = p.__self__.channel.connection

        def acknowledge() -> None:
            if transport.client is not None:
                p(*args, **kwargs)

        return super().call_soon_ack(acknowledge)  # type: ignore[misc]  # the stubs lack it

    def on_ready(self) -> None:
        """Have a sweep run once the broker is back: what was to be queued meanwhile is not there,
        and beat may take half a minute to connect again."""
        if not self.init_callback:
            self.app.send_task("conversations.tasks.sweep")
        super().on_ready()

    def start(self) -> None:
        """Consume until the worker stops. Raises what fails before it was ever ready."""
        while True:
            try:
                super().start()
            except Exception as error:  # Kombu's errors of a lost connection have no base
                if self.init_callback or self.blueprint.state != RUN:
                    raise
                message = "The consumer failed and is started again (%s)"
                # Of a broker that is away a line is enough.
                traceback = error if (cause := away(error)) is None else None
                worker_logger.error(message, repr(cause or error), exc_info=traceback)
                self.connection = None
                self.on_close()
                self._cancel_connection_timer_entries()  # type: ignore[attr-defined]  # as above
                time.sleep(RESTART_DELAY)
                self.blueprint.restart(self)
            else:
                return
