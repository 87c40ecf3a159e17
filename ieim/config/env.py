"""Reading the environment: typed, and every problem reported at once.

Each reader returns a usable value even when it notes a problem, so that one start shows the whole
list; :meth:`Env.check` then raises it. ``.env.example`` documents every variable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_RATE = re.compile(rf"[1-9][0-9]{{0,8}}/({'|'.join(SECONDS)})")


class Env:
    """The environment variables of one process.

    A variable that is set to nothing but white space counts as not set. Where ``NAME_FILE`` is set
    in place of ``NAME``, the value is what that file holds: so a secret need not stand in the
    environment. ``seen`` holds the name of every variable that was asked for.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._problems: list[str] = []
        self.seen: set[str] = set()

    def problem(self, name: str, what: str) -> None:
        """Note that ``name`` is not usable; ``what`` says why and what to set."""
        problem = f"{name} {what}"
        if problem not in self._problems:
            self._problems.append(problem)

    def check(self) -> None:
        """Raise ImproperlyConfigured naming every noted problem, if there is any."""
        if self._problems:
            lines = "\n".join(f"  - {problem}" for problem in self._problems)
            raise ImproperlyConfigured(
                f"IEIM cannot start with these environment variables:\n{lines}\n"
                "Every variable is explained in .env.example."
            )

    def text(self, name: str, default: str = "") -> str:
        """The value without surrounding white space."""
        self.seen.add(name)
        value = self._values.get(name, "").strip()
        file = self._values.get(f"{name}_FILE", "").strip()
        if file and value:
            self.problem(name, f"is set, and {name}_FILE too. Set one of them.")
        elif file:
            try:
                value = Path(file).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                hint = f"Set it to a file that holds {name}."
                self.problem(f"{name}_FILE", f"cannot be read ({error}). {hint}")
        return value or default

    def required(self, name: str, hint: str, *, when: bool = True, default: str = "") -> str:
        """The value; its absence is a problem where ``when``. ``hint`` says what to set."""
        value = self.text(name)
        if not value and when:
            self.problem(name, f"is not set. {hint}")
        return value or default

    def choice(self, name: str, options: Sequence[str], default: str) -> str:
        """One of ``options``."""
        value = self.text(name, default)
        if value not in options:
            self.problem(name, f"is {value!r}. Set it to one of: {', '.join(options)}.")
            return default
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self.text(name).lower()
        if not value:
            return default
        if value not in YES + NO:
            self.problem(name, f"is {value!r}. Set it to true or false.")
        return value in YES

    def number(self, name: str, default: float, *, low: float, high: float) -> float:
        """A decimal number from ``low`` to ``high``."""
        value = self.text(name)
        try:
            number = float(value) if value else default
        except ValueError:
            number = float("nan")
        if not low <= number <= high:
            self.problem(name, f"is {value!r}. Set it to a number from {low:g} to {high:g}.")
            return default
        return number

    def rate(self, name: str, default: str) -> tuple[int, int] | None:
        """So many in a time (``60/hour``), as a number and seconds; None for ``none``."""
        value = self.text(name, default)
        if value == "none":
            return None
        if not _RATE.fullmatch(value):
            hint = "a number and a time, such as 60/hour or 20/minute, or to none for no limit"
            self.problem(name, f"is {value!r}. Set it to {hint}.")
            value = default
        most, _, unit = value.partition("/")
        return int(most), SECONDS[unit]

    def names(self, name: str, default: Sequence[str] = ()) -> list[str]:
        """Values separated by commas."""
        found = [part.strip() for part in self.text(name).split(",")]
        return [part for part in found if part] or list(default)

    def origin(self, name: str, value: str, schemes: Sequence[str]) -> str:
        """``value`` of ``name`` as an origin (``https://host`` or ``https://host:port``).

        Empty stays empty.
        """
        if not value:
            return ""
        try:
            parts = urlsplit(value)
            port = f":{parts.port}" if parts.port is not None else ""
        except ValueError:
            parts, port = urlsplit(""), ""
        extra = parts.path.strip("/") or parts.query or parts.fragment or parts.username
        if parts.scheme not in schemes or not parts.hostname or extra:
            example = f"{schemes[0]}://ask.example.org"
            self.problem(name, f"is {value!r}. Set it to a scheme and a host, such as {example}.")
            return ""
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return f"{parts.scheme}://{host}{port}"

    def table(self, name: str) -> dict[str, Any]:
        """A JSON object; empty when not set."""
        value = self.text(name)
        try:
            table = json.loads(value) if value else {}
        except ValueError as error:
            self.problem(name, f"is not JSON ({error}). Set it to a JSON object.")
            return {}
        if not isinstance(table, dict):
            self.problem(name, "is JSON, but not an object. Set it to a JSON object.")
            return {}
        return table
