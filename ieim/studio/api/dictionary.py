"""The categories of an agency, put in order: moving services, merging, and splitting."""

from __future__ import annotations

from typing import Any, Final

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BooleanField, CharField, ChoiceField, Serializer

from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import TABLES
from ieim.people.scope import works_for
from ieim.studio.api import serializers
from ieim.studio.api.schema import KnowledgeViewSet, operation
from ieim.studio.api.staff import etag, seen_version
from ieim.studio.dictionary import services
from ieim.studio.dictionary.services import Plan, Planned
from ieim.studio.drafts.history import difference, readable
from ieim.studio.models import Change

_HEADER: Final = OpenApiParameter.HEADER
_SEEN = OpenApiParameter("If-Match", str, _HEADER, description="The ETag of the preview.")
_TAG = OpenApiParameter("ETag", str, _HEADER, description="For `If-Match`.", response=[200])


class DictionaryChangedSerializer(Serializer[Any]):
    """What happens to an entry."""

    table = ChoiceField(list(TABLES))
    entry = CharField(help_text="Its natural id.")
    change = ChoiceField(["added", "changed", "removed"])
    differences = serializers.DifferenceSerializer(many=True)


class DictionaryPlanSerializer(Serializer[Any]):
    """What would change, or has changed."""

    written = BooleanField()
    entries = DictionaryChangedSerializer(many=True)


class DictionaryChanges(KnowledgeViewSet):
    @operation(
        "change_dictionary",
        "Move services between categories, merge or split a category",
        DictionaryPlanSerializer,
        "Without `If-Match` nothing is written: the answer says what would change. Send the same "
        "with `If-Match`, the ETag of that answer, and it is written, all or nothing. 412 says "
        "that somebody has changed one of the entries since.",
        query=serializers.AgencyQuerySerializer,
        body=serializers.DictionaryChangeSerializer,
        also=[404, 412, 422],
        parameters=[_SEEN, _TAG],
    )
    def create(self, request: Request) -> Response:
        agency = self.query(serializers.AgencyQuerySerializer)["agency"]
        if not works_for(self.user, agency):
            raise Http404
        newest = services.newest_change()
        is_written = "If-Match" in request.headers
        plan = _plan(agency, self.validated(serializers.DictionaryChangeSerializer))
        entries = [entry for planned in plan if (entry := _entry(planned))["differences"]]
        entries += [
            {"table": row.table, "entry": str(row), "change": "removed", "differences": []}
            for row in services.lost_translations(plan)
        ]
        if is_written:
            seen, source = seen_version(request), Change.Source.API
            services.carry_out(plan, seen=seen, by=self.user, source=source)
        data = {"written": is_written, "entries": entries}
        answer = DictionaryPlanSerializer(data).data
        return Response(answer, headers={"ETag": etag(newest)})


def _plan(agency: str, body: dict[str, Any]) -> Plan:
    action, category, keys = body["action"], body.get("category", ""), body.get("services", [])
    if action == "move":
        leaves = dict.fromkeys(keys, [category] if category else [])
        return services.plan_move(agency=agency, leaves=leaves, into=body["into"])
    if action == "merge":
        return services.plan_merge(agency=agency, category=category, into=body["into"])
    return services.plan_split(
        agency=agency,
        category=category,
        value=body["value"],
        key=body.get("into", ""),
        services=keys,
        keywords=body.get("keywords", []),
    )


def _entry(planned: Planned) -> dict[str, Any]:
    entry, after = planned.entry, planned.columns
    columns = COLUMNS[entry.table] if after is None else after
    values = {name: getattr(entry, name) for name in columns if name != "agency"}
    before = None if entry._state.adding else values
    table, name = planned.name
    return {
        "table": table,
        "entry": name,
        "change": "added" if before is None else "removed" if after is None else "changed",
        "differences": [
            {"field": field, "before": old, "after": new}
            for field, old, new in readable(difference(before, after))
        ],
    }
