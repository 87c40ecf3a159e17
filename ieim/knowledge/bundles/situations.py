"""Situations as rows of a bundle: each service is a line, ``agency/key`` or
``agency/key | condition``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ieim.pipeline.knowledge import Situation, Step

CONDITION_LIMIT = 200
"""The longest condition, in code points: it stands beside the service's name."""

DESCRIPTION_LIMIT = 400
"""The longest description of a situation: a model reads those of several with a message."""


@dataclass(frozen=True, slots=True)
class SituationRow:
    """A situation as bundles and the draft have it."""

    key: str
    kind: str
    name: str
    description: str = ""
    services: tuple[str, ...] = ()

    @classmethod
    def of(cls, situation: Situation) -> SituationRow:
        services = [line(f"{s.agency}/{s.service}", s.condition) for s in situation.steps]
        texts = (situation.key, situation.kind, situation.name, situation.description)
        return cls(*texts, tuple(services))

    def situation(self, services: Mapping[str, tuple[str, str]]) -> Situation:
        """Return it as a release has it; ``services`` are agency and key by reference.

        A service that is not among them is divided at its first slash.
        """
        steps = []
        for reference, condition in map(parts, self.services):
            agency, _, key = reference.partition("/")
            steps.append(Step(*services.get(reference, (agency, key)), condition))
        return Situation(self.key, self.kind, self.name, self.description, tuple(steps))


def parts(text: str) -> tuple[str, str]:
    """Return the reference and the condition of a line, "" for everybody."""
    reference, _, condition = text.partition("|")
    return reference.strip(), condition.strip()


def line(reference: str, condition: str) -> str:
    """Return the line that :func:`parts` divides."""
    return f"{reference} | {condition}" if condition else reference
