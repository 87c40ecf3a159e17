"""What the OpenAPI document says of the editors' operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_view,
)
from rest_framework import serializers

from conversations.api import schema
from conversations.api.schema import MEANINGS, Meaning
from ieim.knowledge.bundles.rows import Table
from ieim.studio.api.entry_serializers import ADDRESSES, ENTRIES, PAGES, ListQuerySerializer
from ieim.studio.api.serializers import (
    AnswersQuerySerializer,
    AnswersSerializer,
    DirectiveSerializer,
    DirectivesSerializer,
    FullReleaseSerializer,
    GoldenRunSerializer,
    ProposalSerializer,
    ProposalsSerializer,
    ProposeSerializer,
    ReasonSerializer,
    ReleaseSerializer,
    ReleasesSerializer,
    TrialsSerializer,
    TrySerializer,
    VersionsSerializer,
)
from ieim.studio.api.staff import Changed, NoVersion

View = TypeVar("View", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])

STAFF: Mapping[int, Meaning] = {
    **MEANINGS,
    400: ("Something in the address or the body is missing or unusable.", "", None),
    401: ("Not logged in.", "", None),
    403: ("You do not have the right, or the CSRF token is missing.", "", None),
}
"""What staff's resources mean by a status."""
_MEANINGS: Mapping[int, Meaning] = {
    **STAFF,
    404: ("Not there, or of another agency.", "There is nothing at this address.", None),
    412: ("It has changed since you read it, or is there already.", Changed.default_detail, None),
    413: ("The body is too large.", "", None),
    415: ("The body is of another media type.", "", None),
    422: ("It cannot be done; `detail` or `errors` say why.", "", None),
    428: ("There is neither `If-Match` nor `If-None-Match: *`.", NoVersion.default_detail, None),
    503: ("The model cannot be reached.", "", None),
}
_TAG = OpenApiParameter(
    name="ETag",
    type=str,
    location=OpenApiParameter.HEADER,
    description="The entry's version, for `If-Match`.",
    response=[200, 201],
)
_SEEN = OpenApiParameter(
    name="If-Match",
    type=str,
    location=OpenApiParameter.HEADER,
    description="The ETag of the entry as you have seen it. `*` never fits.",
    examples=[OpenApiExample("The ETag", value='"3"')],
)
_NEW = OpenApiParameter(
    name="If-None-Match",
    type=str,
    location=OpenApiParameter.HEADER,
    enum=["*"],
    description="`*`: the entry must not be there yet.",
)
_TAGS = ["knowledge"]


problems = partial(schema.problems, meanings=_MEANINGS)
"""Returns the answers with these statuses, as problem details."""


def entries(table: Table) -> Callable[[View], View]:
    """Document the list of ``table``."""
    return extend_schema_view(
        get=extend_schema(
            operation_id=f"list_{table}",
            summary=f"Read the draft's {table}",
            description="Those that you may see, a page at a time. Follow `next`.",
            tags=_TAGS,
            parameters=[ListQuerySerializer],
            responses={200: PAGES[table], **problems(400, 401, 403)},
        )
    )


def entry(table: Table) -> Callable[[View], View]:
    """Document one entry of ``table``."""
    what, body, address = f"an entry of the draft's {table}", ENTRIES[table], ADDRESSES[table]
    return extend_schema_view(
        get=extend_schema(
            operation_id=f"read_{table}_entry",
            summary=f"Read {what}",
            tags=_TAGS,
            parameters=[address, _TAG],
            responses={200: body, **problems(400, 401, 403, 404)},
        ),
        put=extend_schema(
            operation_id=f"put_{table}_entry",
            summary=f"Add or change {what}",
            description=(
                "Columns that are left out stay as they are. Who adds sends `If-None-Match: *`, "
                "who changes `If-Match` with the version that was read."
            ),
            tags=_TAGS,
            parameters=[address, _SEEN, _NEW, _TAG],
            request=body,
            responses={
                200: body,
                201: body,
                **problems(400, 401, 403, 404, 411, 412, 413, 415, 422, 428),
            },
        ),
        delete=extend_schema(
            operation_id=f"remove_{table}_entry",
            summary=f"Remove {what}",
            description="422 while something else refers to it.",
            tags=_TAGS,
            parameters=[address, _SEEN],
            responses={
                204: OpenApiResponse(description="Removed."),
                **problems(400, 401, 403, 404, 412, 422, 428),
            },
        ),
    )


releases = extend_schema(
    operation_id="list_releases",
    summary="Read the releases",
    tags=_TAGS,
    responses={200: ReleasesSerializer, **problems(401, 403)},
)
release = extend_schema(
    operation_id="read_release",
    summary="Read a release with its content",
    tags=_TAGS,
    responses={200: FullReleaseSerializer, **problems(401, 403, 404)},
)
proposals = extend_schema(
    operation_id="list_proposals",
    summary="Read the newest proposals",
    tags=_TAGS,
    responses={200: ProposalsSerializer, **problems(401, 403)},
)
propose = extend_schema(
    operation_id="propose",
    summary="Propose the draft, or an earlier release again",
    description="The draft as it is now is kept; editing goes on. One proposal is open at a time. "
    "422 names what is wrong with the draft, or says that the checks of a large one still run.",
    tags=_TAGS,
    request=ProposeSerializer,
    responses={
        201: ProposalSerializer,
        **problems(400, 401, 403, 404, 411, 413, 415, 422),
    },
)
proposal = extend_schema(
    operation_id="read_proposal",
    summary="Read a proposal",
    tags=_TAGS,
    responses={200: ProposalSerializer, **problems(401, 403, 404)},
)


def _decided(
    name: str, summary: str, description: str, answer: type[serializers.Serializer[Any]]
) -> Callable[[Method], Method]:
    """Document one way to decide about a proposal."""
    return extend_schema(
        operation_id=f"{name}_proposal",
        summary=summary,
        description=description,
        tags=_TAGS,
        request=ReasonSerializer,
        responses={200: answer, **problems(400, 401, 403, 404, 411, 413, 415, 422)},
    )


publish = _decided(
    "publish",
    "Publish what somebody else proposed",
    "Where golden questions get worse, a `reason` is needed. Running turns keep their release.",
    ReleaseSerializer,
)
refuse = _decided("refuse", "Turn a proposal down", "A `reason` is needed.", ProposalSerializer)
withdraw = _decided(
    "withdraw", "Withdraw your own proposal", "No reason is kept.", ProposalSerializer
)

_POSTED = (400, 401, 403, 404, 411, 413, 415, 422)
golden_run = extend_schema(
    operation_id="start_golden_run",
    summary="Ask the golden questions of a proposal",
    description="A worker asks them; `golden_run` of the proposal says how far that is.",
    tags=_TAGS,
    request=None,
    responses={202: GoldenRunSerializer, **problems(*_POSTED)},
)
trial = extend_schema(
    operation_id="try_question",
    summary="Ask the draft and the published release",
    description="Nothing of it is stored. It calls the model as a citizen's question would.",
    tags=_TAGS,
    request=TrySerializer,
    responses={200: TrialsSerializer, **problems(400, 401, 403, 411, 413, 415, 422, 503)},
)
versions = extend_schema(
    operation_id="list_versions",
    summary="Read the versions of a service that answers were made from",
    tags=_TAGS,
    parameters=[ADDRESSES["services"]],
    responses={200: VersionsSerializer, **problems(400, 401, 403, 404)},
)
answers = extend_schema(
    operation_id="list_answers",
    summary="Read which answers were made from a service",
    tags=_TAGS,
    parameters=[AnswersQuerySerializer],
    responses={200: AnswersSerializer, **problems(400, 401, 403, 404)},
)
notices = extend_schema(
    operation_id="list_notices",
    summary="Read the notices",
    tags=_TAGS,
    responses={200: DirectivesSerializer, **problems(401, 403)},
)
add_notice = extend_schema(
    operation_id="add_notice",
    summary="Add a notice",
    description="It applies at once: to new answers, and to what the stages are told.",
    tags=_TAGS,
    request=DirectiveSerializer,
    responses={201: DirectiveSerializer, **problems(400, 401, 403, 411, 413, 415, 422)},
)
end_notice = extend_schema(
    operation_id="end_notice",
    summary="End a notice now",
    tags=_TAGS,
    request=None,
    responses={200: DirectiveSerializer, **problems(*_POSTED)},
)
