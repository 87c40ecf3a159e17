from collections.abc import Iterator
from typing import Any

from django.db import migrations

from conversations.recall.versions import content_of, digest_of

BATCH = 1000


def cite(apps: Any, editor: Any) -> None:
    """Write down what the replies that there are were made from, release by release."""
    Reply = apps.get_model("conversations", "Reply")
    Citation = apps.get_model("conversations", "Citation")
    Release = apps.get_model("knowledge", "Release")
    numbers = Reply.objects.order_by().values_list("turn__release_number", flat=True).distinct()
    for number in list(numbers):
        content = Release.objects.values_list("content", flat=True).filter(number=number).first()
        if content is None:
            continue  # made by hand: a session's turns are pinned to releases that there are
        rows = {(row["agency"], row["key"]): row for row in content["services"]}
        translations: dict[tuple[str, str], list[Any]] = {}
        for words in content.get("translations", ()):
            translations.setdefault((words["agency"], words["service"]), []).append(words)
        known: dict[tuple[str, str], str] = {}
        for batch in batches(Reply.objects.filter(turn__release_number=number)):
            found = []
            for reply in batch:
                sources = reply.body["sources"]
                for key in dict.fromkeys((s["agency_id"], s["service_key"]) for s in sources):
                    if key not in rows:
                        continue
                    if key not in known:
                        said = content_of(rows[key], translations.get(key, ()))
                        known[key] = digest_of(said)
                    found.append(
                        Citation(
                            reply_id=reply.pk,
                            agency=key[0],
                            service=key[1],
                            service_sha256=known[key],
                        )
                    )
            Citation.objects.bulk_create(found, ignore_conflicts=True)


def batches(replies: Any) -> Iterator[list[Any]]:
    last = 0
    while batch := list(replies.filter(pk__gt=last).order_by("pk").only("pk", "body")[:BATCH]):
        last = batch[-1].pk
        yield batch


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0005_recall"),
        ("knowledge", "0005_editing"),
    ]

    operations = [migrations.RunPython(cite, migrations.RunPython.noop)]
