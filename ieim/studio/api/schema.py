"""The viewsets of the editors' resources, their documentation, and how refusals are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import APIException, PermissionDenied
from rest_framework.generics import GenericAPIView
from rest_framework.pagination import BasePagination
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import ViewSetMixin

from conversations.api import schema
from conversations.api.schema import MEANINGS, Meaning
from ieim.knowledge.bundles.bundle import BundleError
from ieim.knowledge.models import Directive
from ieim.knowledge.notices.services import Refused
from ieim.studio.api.staff import Changed, NoVersion, StaffView
from ieim.studio.dictionary import services as dictionary
from ieim.studio.drafting.services import DraftingError
from ieim.studio.drafts.editing import Invalid, OutOfScope, Stale
from ieim.studio.exchange.importing import Moved
from ieim.studio.models import WebPage
from ieim.studio.proposals.services import BeyondScope, ProposalError
from ieim.studio.standards.report import StandardError
from ieim.studio.trying.playground import NoModel
from ieim.studio.trying.services import GoldenError
from ieim.studio.webpages.services import PagesError

STAFF: Mapping[int, Meaning] = {
    **MEANINGS,
    400: ("Something in the address or the body is missing or unusable.", "", None),
    401: ("Not logged in, or a token that opens nothing.", "", None),
    403: (
        "You or your token do not have the right, or the CSRF token is missing.",
        "",
        None,
    ),
}
"""The meanings of a status for staff's resources."""
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
problems = partial(schema.problems, meanings=_MEANINGS)
"""Return the problem details of these statuses for the document."""

MOVED = "The draft or the file is not what was previewed. Look at the preview again."
FILE_REFUSED = "The file cannot be used. Nothing was changed."


class NotDone(APIException):
    """A problem with a status; ``errors`` point at what is wrong."""

    def __init__(
        self, detail: str, errors: Sequence[Mapping[str, Any]] = (), *, status: int = 422
    ) -> None:
        super().__init__(detail)
        self.status_code = status
        self.errors = list(errors)


def _bad_values(error: Invalid) -> NotDone:
    errors = [
        {"pointer": f"/{column}", "detail": f"{column} {problem.text}"}
        for column, problems in error.problems.items()
        for problem in problems
    ]
    return NotDone("Some values break a rule of the knowledge.", errors)


def _bad_notice(error: Refused) -> NotDone:
    problems = error.problems.items()
    return NotDone(str(error), [{"pointer": f"/{f}", "detail": text} for f, text in problems])


def _bad_file(error: StandardError) -> NotDone:
    problems = [{"pointer": p.pointer, "detail": p.message} for p in error.problems]
    return NotDone(FILE_REFUSED, problems)


_PROBLEMS: Mapping[type[Exception], Callable[[Any], Exception]] = {
    BeyondScope: lambda error: NotDone(" ".join(error.reasons), status=403),
    ProposalError: lambda error: NotDone(" ".join(error.reasons)),
    dictionary.Refused: lambda error: NotDone(str(error)),
    DraftingError: lambda error: NotDone(str(error)),
    WebPage.DoesNotExist: lambda _error: Http404(),
    GoldenError: lambda error: NotDone(str(error)),
    BundleError: lambda error: NotDone(
        f"The draft cannot be used. {' '.join(map(str, error.errors))}"
    ),
    PagesError: lambda error: NotDone(str(error)),
    NoModel: lambda error: NotDone(str(error), status=503),
    Invalid: _bad_values,
    Refused: _bad_notice,
    StandardError: _bad_file,
    Moved: lambda error: NotDone(str(error)) if str(error) else Changed(MOVED),
    Stale: lambda error: Changed(str(error)),
    OutOfScope: lambda error: PermissionDenied(str(error)),
    Directive.DoesNotExist: lambda _error: Http404(),
}
"""The problem of each exception of the services; the first that matches counts."""


class Items(BasePagination):
    """The first rows of a list as ``items``, as many as the viewset's ``limit``."""

    def paginate_queryset(self, queryset: Any, request: Any, view: Any = None) -> list[Any]:
        return list(queryset[: view.limit])

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"items": data})


class KnowledgeViewSet(ViewSetMixin, StaffView, GenericAPIView[Any]):
    """A viewset for staff; the addresses say which action answers which method."""

    pagination_class = Items
    limit: int | None = None
    problems = _PROBLEMS

    def validated(self, serializer_class: type[Serializer[Any]]) -> dict[str, Any]:
        """Return the validated body."""
        return validated(serializer_class(data=self.request.data))

    def query(self, serializer_class: type[Serializer[Any]]) -> dict[str, Any]:
        """Return the validated query of the address."""
        return validated(serializer_class(data=self.request.query_params.dict()))

    def handle_exception(self, exc: Exception) -> Response:
        for exception, problem in self.problems.items():
            if isinstance(exc, exception):
                answer = problem(exc)
                answer.__cause__ = exc
                return super().handle_exception(answer)
        return super().handle_exception(exc)


def validated(serializer: Serializer[Any]) -> dict[str, Any]:
    """Return what was sent. Raises ValidationError."""
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


WRITING = (400, 411, 413, 415)
"""The statuses of problems with a body."""


def operation(
    operation_id: str,
    summary: str,
    answer: type[Serializer[Any]] | None = None,
    description: str = "",
    *,
    query: type[Serializer[Any]] | None = None,
    body: Any = None,
    status: int = 200,
    also: Sequence[int] = (),
    parameters: Sequence[OpenApiParameter | type[Serializer[Any]]] = (),
    responses: Mapping[Any, Any] | None = None,
    tag: str = "knowledge",
    problems: Callable[..., dict[Any, Any]] = problems,
) -> Callable[..., Any]:
    """Return the documentation of an action.

    ``also`` are statuses of problems beside those of every operation, a query and a body;
    ``responses`` documents answers that ``answer`` does not.
    """
    statuses = {401, 403, 429, *also}
    statuses.update([400] if query else [], WRITING if body else [])
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description or None,
        tags=[tag],
        parameters=[*([query] if query else []), *parameters],
        request=body,
        responses={
            **({status: answer} if answer else {}),
            **problems(*sorted(statuses)),
            **(responses or {}),
        },
    )
