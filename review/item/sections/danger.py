"""What the page of an item in crisis says first: which danger, in which words, and who helps."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.models import Turn
from conversations.turns import flags
from review import crisis


@dataclass(frozen=True, slots=True)
class Danger:
    """Why an item is in crisis.

    ``names`` are the risks, ``words`` those of the citizen that show them, ``help_lines`` what the
    citizen was shown at once, and the same in the knowledge's language.
    """

    names: str
    words: tuple[str, ...]
    help_lines: tuple[str, ...]


def danger(turn: Turn) -> Danger | None:
    """Return the danger that a citizen's words show, None where it shows none."""
    labels = crisis.labels(turn)
    if not labels:
        return None
    codes = {label.code for label in labels}
    words = [turn.text[r["start"] : r["end"]] for r in turn.risks if r["code"] in codes]
    words += [said for code, said in flags.of_feedback(turn) if code in codes]
    return Danger(
        names=", ".join(label.name for label in labels),
        words=tuple(dict.fromkeys(filter(None, words))),
        help_lines=crisis.help_lines(turn),
    )
