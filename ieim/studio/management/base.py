"""What the studio's commands share."""

from __future__ import annotations

from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm


class PlainHelpCommand(BaseCommand):
    """A command whose help and epilog keep their line breaks."""

    epilog = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs.setdefault("formatter_class", RawDescriptionHelpFormatter)
        return super().create_parser(prog_name, subcommand, epilog=self.epilog, **kwargs)

    def refusal(
        self, problems: Iterable[object], *, noun: str = "error", verb: str = "changed"
    ) -> CommandError:
        """Write every problem to standard error, and return the error to raise."""
        lines = [str(problem) for problem in problems]
        for line in lines:
            self.stderr.write(line)
        many = f"1 {noun}" if len(lines) == 1 else f"{len(lines):,} {noun}s"
        return CommandError(f"{many}; nothing was {verb}.")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say which file cannot be read."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}.") from error


def progress(total: int, unit: str, *, verbosity: int) -> Any:
    """Return a progress bar on standard error, shown on a terminal only."""
    hidden = True if verbosity == 0 else None
    return tqdm(total=total, unit=f" {unit}", disable=hidden, leave=False)
