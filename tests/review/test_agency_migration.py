"""Items from before there were sets get theirs."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from review import belonging, reach
from review.deciding import Action
from review.models import AgencySet, ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BABY, BAD, taken_and_decided, the_item

migration = import_module("review.migrations.0007_fill_agency_sets")
BOTH = ("civil-registry", "social-support")


def migrate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the rows as they were, and bring them up to date in small steps."""
    ReviewItem.objects.update(agencies=None)
    AgencySet.objects.all().delete()
    monkeypatch.setattr(migration, "BATCH", 2)
    with connection.schema_editor() as editor:
        migration.fill_sets(apps, editor)
        migration.move_waiting(apps, editor)


@pytest.mark.usefixtures("published")
@pytest.mark.django_db(transaction=True)
def test_it_fills_what_was_found_and_what_was_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    both, one, none = (
        the_item(desk.ask(text, {stage: BAD}), stage)
        for text, stage in (
            (BABY, "service_select_v1"),
            (VISA, "category_select_v1"),
            (VISA, "judgement_v1"),
        )
    )
    eva = desk.person("eva", agencies=["immigration", BOTH[0]])
    handed = the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    taken_and_decided(handed, eva, Action.HAND_OVER, agency="revenue")
    taken_and_decided(both, eva, Action.WRITE, text="Please come.", sources=[])
    ReviewItem.objects.filter(pk=both.pk).update(state="open")

    migrate(monkeypatch)

    belongs = {item.pk: item.agency_ids for item in ReviewItem.objects.all()}
    assert [belongs[item.pk] for item in (both, one, none, handed)] == [
        BOTH,
        ("immigration",),
        (),
        ("revenue",),
    ]
    states = dict(ReviewItem.objects.values_list("pk", "state"))
    assert (states[both.pk], states[one.pk], states[handed.pk]) == (
        "second_opinion",
        "open",
        "open",
    )
    assert set(reach.visible(eva)) == {both, one}
    # What is found from now on leads to the same rows.
    again = belonging.set_of(BOTH)
    assert again is not None
    assert again.pk == ReviewItem.objects.get(pk=both.pk).agencies_id
