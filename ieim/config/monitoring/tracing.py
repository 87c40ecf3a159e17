"""Traces by OpenTelemetry, sent by OTLP: loaded only where an endpoint is set.

Which spans there are is :mod:`conversations.traced`'s. The SDK reads its own variables.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from http import HTTPMethod
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler

from conversations import traced

PATIENCE: Final = "2"
"""Seconds that a batch of spans is offered to a collector that does not answer. OpenTelemetry's
default is 10, and a process that ends would wait so long."""


def start() -> None:
    """Trace this process from now on, and what it forks; once, also where it runs a worker too."""
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return
    tracer_provider = create_provider()
    tracer_provider.add_span_processor(BatchSpanProcessor(_exporter()))
    trace.set_tracer_provider(tracer_provider)
    traced.switch_on()


def stop() -> None:
    """Send what has not been sent yet. A process that ends in order does so by itself; one that
    ends by a signal after its last request does not."""
    tracer_provider = trace.get_tracer_provider()
    if isinstance(tracer_provider, TracerProvider):
        tracer_provider.shutdown()


def create_provider(sampler: Sampler | None = None) -> TracerProvider:
    """Return the provider of this service's tracers; sampled as the variables say."""
    service = {"service.name": "ieim", "service.version": settings.IEIM_VERSION}
    # What is empty is not set, says the specification; the SDK would take it for a value.
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        if not os.environ[name].strip():
            del os.environ[name]
    resource = Resource.create({**service, **OTELResourceDetector().detect().attributes})
    return TracerProvider(sampler, resource)


def _exporter() -> OTLPSpanExporter:
    os.environ.setdefault("OTEL_EXPORTER_OTLP_TIMEOUT", PATIENCE)
    return OTLPSpanExporter()


def trace_requests(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: a request is a span, named by its route, since its address may be a secret."""

    def middleware(request: HttpRequest) -> HttpResponse:
        # Some servers take any word for a method.
        method = str(request.method) if request.method in HTTPMethod.__members__ else "_OTHER"
        with traced.span(method, {"http.request.method": method}, kind="SERVER") as note:
            response = get_response(request)
            match = request.resolver_match
            route = f"/{match.route}" if match else "(no route)"
            note({"http.route": route, "http.response.status_code": response.status_code})
            current = trace.get_current_span()
            current.update_name(f"{method} {route}")
            if response.status_code >= 500:
                current.set_status(trace.StatusCode.ERROR)
            return response

    return middleware


def send_test_span() -> str:
    """Send a span by the name of doctor; return its trace id.

    Empty where the collector did not take it: the log says why.
    """
    span = create_provider(ALWAYS_ON).get_tracer(__name__).start_span("doctor")
    span.end()
    if not isinstance(span, ReadableSpan) or _exporter().export([span]) is SpanExportResult.FAILURE:
        return ""
    return trace.format_trace_id(span.get_span_context().trace_id)
