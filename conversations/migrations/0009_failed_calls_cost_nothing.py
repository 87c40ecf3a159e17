"""Count no tokens for calls of the past that failed, as for those of today.

A run that could not reach the model had stored the calls that it made ahead with the bound of their
input. The audit record, which stays as it is, tells them: they come before the event that parks the
turn, or gives it to a person because the model was unavailable.
"""

import json
from collections.abc import Iterable, Iterator

from django.db import migrations

UNUSED, PARKED, GIVEN = "stage.unused", "turn.awaiting_model", "turn.needs_review"
RUN = (UNUSED, PARKED, GIVEN, "stage.attempt", "turn.answered", "turn.asking")


def failed(events: Iterable[tuple[str, dict]]) -> Iterator[int]:
    """Yield which of a turn's unused calls failed, by their number among them."""
    number, run = 0, []
    for kind, payload in events:
        if kind == UNUSED:
            if payload["prompt_tokens"] is None and payload["completion_tokens"] is None:
                run.append(number)
            number += 1
            continue
        if kind == PARKED or (kind == GIVEN and "model.unavailable" in payload["codes"]):
            yield from run
        run = []


def free(apps, schema_editor):
    rows = apps.get_model("conversations", "Unused").objects
    turns = rows.filter(prompt_tokens=None, completion_tokens=None).order_by()
    of_session = turns.values_list("turn_id", "turn__session_id").distinct()
    for turn_id, chain in list(of_session):
        found = apps.get_model("audit", "AuditEvent").objects.filter(
            chain=chain, kind__in=RUN, payload__contains=f'"{turn_id}"'
        )
        kinds = found.order_by("seq").values_list("kind", "payload")
        events = [(kind, json.loads(payload)) for kind, payload in kinds]
        stored = list(rows.filter(turn=turn_id).order_by("pk").values_list("pk", flat=True))
        numbers = [number for number in failed(events) if number < len(stored)]
        rows.filter(pk__in=[stored[number] for number in numbers]).update(tokens=0)


class Migration(migrations.Migration):
    dependencies = [("conversations", "0008_outage"), ("audit", "0001_initial")]

    operations = [migrations.RunPython(free, migrations.RunPython.noop)]
