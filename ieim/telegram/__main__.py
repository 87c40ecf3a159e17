"""``python -m ieim.telegram``: run the channel until it is stopped."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
import sys
import threading
from typing import Any

from ieim.telegram import calls, environment
from ieim.telegram.api import BotApi, Refused, TooMany
from ieim.telegram.assistant import Assistant
from ieim.telegram.bot import PAUSE, Bot
from ieim.telegram.state import State

logger = logging.getLogger("ieim.telegram")

_REFUSED = {
    401: "Telegram does not know this bot: look at IEIM_TELEGRAM_TOKEN.",
    404: "Telegram does not know this bot: look at IEIM_TELEGRAM_TOKEN.",
    409: "Somebody else takes this bot's messages: stop the other channel, or delete its webhook.",
}


def main() -> int:
    """Return 0 when it was stopped, 1 when it cannot run, 2 for wrong settings."""
    logging.basicConfig(
        level=logging.INFO, format="{asctime} {levelname} {name}: {message}", style="{"
    )
    try:
        settings = environment.read(os.environ)
        state = State(settings.state)
    except environment.Wrong as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 2
    except (OSError, sqlite3.Error) as error:
        sys.stderr.write(f"IEIM_TELEGRAM_STATE: the file cannot be used ({error}).\n")
        return 2
    stopping = threading.Event()

    def stop(*_: Any) -> None:
        stopping.set()
        # What is asked of Telegram may take half a minute, and nothing is lost with it.
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    api = BotApi(settings.telegram, settings.token)
    bot = Bot(api, Assistant(settings.base_url), state)
    logger.info("started for %s", settings.base_url)
    try:
        return _run(bot, stopping)
    except KeyboardInterrupt:
        return 0
    finally:
        state.close()


def _run(bot: Bot, stopping: threading.Event) -> int:
    while True:
        pause = PAUSE
        try:
            bot.step()
            continue
        except Refused as refused:
            logger.error(_REFUSED.get(refused.code, "Telegram refused: %s"), *_details(refused))
            if refused.code in (401, 404):
                return 1
        except TooMany as many:
            pause = many.seconds
        except calls.Unreachable as error:
            logger.warning("not reached: %s; again in %s s", error, pause)
        stopping.wait(pause)


def _details(refused: Refused) -> list[Refused]:
    return [] if refused.code in _REFUSED else [refused]


if __name__ == "__main__":
    sys.exit(main())
