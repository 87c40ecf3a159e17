"""The idiom of the editors' resources: methods of a viewset, each decorated as an operation.

An operation validates the address and the body, serializes what the method returns, and says in
the OpenAPI document what it takes and gives. What the services refuse becomes problem details.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import APIException, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import ViewSetMixin

from conversations.api import schema
from conversations.api.schema import MEANINGS, Meaning
from ieim.knowledge.bundles.bundle import BundleError
from ieim.knowledge.models import Directive
from ieim.knowledge.notices.services import Refused
from ieim.studio.api.staff import Changed, NoVersion, StaffView
from ieim.studio.drafts.editing import Invalid, OutOfScope, Stale
from ieim.studio.exchange.importing import Moved
from ieim.studio.proposals.services import BeyondScope, ProposalError
from ieim.studio.standards.report import StandardError
from ieim.studio.trying.asking import NoModel
from ieim.studio.trying.services import GoldenError

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
"""Returns the answers with these statuses, as problem details."""

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
        {"pointer": f"/{column}", "detail": f"{column} {one.text}"}
        for column, found in error.problems.items()
        for one in found
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
    GoldenError: lambda error: NotDone(str(error)),
    BundleError: lambda error: NotDone(
        f"The draft cannot be used. {' '.join(map(str, error.errors))}"
    ),
    NoModel: lambda error: NotDone(str(error), status=503),
    Invalid: _bad_values,
    Refused: _bad_notice,
    StandardError: _bad_file,
    Moved: lambda _error: Changed(MOVED),
    Stale: lambda error: Changed(str(error)),
    OutOfScope: lambda error: PermissionDenied(str(error)),
    Directive.DoesNotExist: lambda _error: Http404(),
}
"""How what the services raise is answered; the first that fits counts."""


class StaffViewSet(ViewSetMixin, StaffView):
    """Resources for staff; the addresses say which method answers which verb."""

    http_method_names = ["get", "head", "post", "put", "delete"]
    problems = _PROBLEMS

    def handle_exception(self, exc: Exception) -> Response:
        for kind, problem in self.problems.items():
            if isinstance(exc, kind):
                answer = problem(exc)
                answer.__cause__ = exc
                return super().handle_exception(answer)
        return super().handle_exception(exc)


def operation(
    operation_id: str,
    summary: str,
    description: str = "",
    *,
    query: type[Serializer[Any]] | None = None,
    body: type[Serializer[Any]] | None = None,
    answer: type[Serializer[Any]] | None = None,
    status: int = 200,
    also: Sequence[int] = (),
    parameters: Sequence[OpenApiParameter | type[Serializer[Any]]] = (),
    request: Any = None,
    responses: Mapping[Any, Any] | None = None,
    tag: str = "knowledge",
    problems: Callable[..., dict[Any, Any]] = problems,
) -> Callable[[Callable[..., Any]], Callable[..., HttpResponseBase]]:
    """Make a method of a viewset an operation of the API.

    The method gets the validated ``query`` and ``body`` as arguments of these names, and returns
    what ``answer`` serializes with ``status``, or a response. ``also`` are the statuses of problems
    beside those that follow from the method's name (``index``, ``read`` and ``remove`` take no
    body). ``request`` and ``responses`` document what is no JSON.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., HttpResponseBase]:
        @wraps(method)
        def view(self: StaffViewSet, request: Request, **values: Any) -> HttpResponseBase:
            if query is not None:
                values["query"] = _validated(query(data=request.query_params.dict()))
            if body is not None:
                values["body"] = _validated(body(data=request.data))
            result = method(self, request, **values)
            if isinstance(result, HttpResponseBase):
                return result
            assert answer is not None  # noqa: S101
            return Response(answer(result).data, status=status)

        takes_body = method.__name__ not in ("index", "read", "remove")
        statuses = {401, 403, 429, *also}
        if takes_body:
            statuses |= {400, 411, 413, 415}
        if query is not None:
            statuses.add(400)
        documented = extend_schema(
            operation_id=operation_id,
            summary=summary,
            description=description or None,
            tags=[tag],
            parameters=[*([query] if query else []), *parameters],
            request=request or body,
            responses={
                **({status: answer} if answer else {}),
                **problems(*sorted(statuses)),
                **(responses or {}),
            },
        )
        return documented(view)

    return decorate


def _validated(serializer: Serializer[Any]) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    validated: dict[str, Any] = serializer.validated_data
    return validated
