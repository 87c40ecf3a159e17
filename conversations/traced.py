"""Spans of a trace, where ``ieim.config`` has switched traces on; else none, and nothing is loaded.

A request or a message of a socket, the tasks that it queues, the turn, its stages and the calls of
the model are one trace. A span says which ids it is about, as a log line does
(:mod:`conversations.logged`), and has codes and numbers beside them: never a word, an address, or
what an exception says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

from conversations import logged

if TYPE_CHECKING:
    from opentelemetry.trace import Span

Value = str | int | bool | Sequence[str]
Attributes = Mapping[str, Value]
Kind = Literal["SERVER", "CLIENT", "CONSUMER", "INTERNAL"]

TRACEPARENT = "traceparent"
"""The header of W3C Trace Context, which says in a task's message which span has queued it."""

_NAME = "ieim"
_on = False
_parts: ContextVar[dict[str, Span] | None] = ContextVar("ieim_parts", default=None)


def switch_on() -> None:
    """Let spans be made from now on, by OpenTelemetry's tracer of this process."""
    global _on
    _on = True


@contextmanager
def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: Kind = "INTERNAL",
    part: str = "",
    traceparent: str = "",
) -> Iterator[Callable[[Attributes], None]]:
    """Let a block be a span; yields what notes more of it.

    It is below the span that ``traceparent`` names, or the open ``part`` of the present one, or the
    present one itself. Of an exception its type is noted, and nothing that it says.
    """
    if not _on:
        yield _nothing
        return
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    above = (_parts.get() or {}).get(part)
    context = trace.set_span_in_context(above) if above else None
    if traceparent:
        context = TraceContextTextMapPropagator().extract({TRACEPARENT: traceparent})
    parts: dict[str, Span] = {}
    token = _parts.set(parts)
    new_span = trace.get_tracer(_NAME).start_span(
        name, context, trace.SpanKind[kind], attributes, record_exception=False
    )
    try:
        with trace.use_span(
            new_span, end_on_exit=True, record_exception=False, set_status_on_exception=False
        ):
            try:
                yield new_span.set_attributes
            except BaseException as error:
                new_span.set_attribute("error.type", type(error).__name__)
                new_span.set_status(trace.StatusCode.ERROR)
                raise
            finally:
                new_span.set_attributes({f"ieim.{of}": id_ for of, id_ in logged.ids().items()})
                for part_span in parts.values():
                    part_span.end()
    finally:
        _parts.reset(token)


def begin(part: str, attributes: Attributes) -> None:
    """Begin a part of the present span: a span that ends by :func:`end`, or else with that one."""
    parts = _parts.get()
    if parts is None:
        return
    from opentelemetry import trace

    parts[part] = trace.get_tracer(_NAME).start_span(part, attributes=attributes)


def add_event(part: str, event: str, attributes: Attributes) -> None:
    """Note what has happened in an open part of the present span."""
    if span := (_parts.get() or {}).get(part):
        span.add_event(event, attributes)


def end(part: str) -> None:
    """End a part of the present span; nothing where none of this name is open."""
    if ended := (_parts.get() or {}).pop(part, None):
        ended.end()


def trace_headers() -> dict[str, str]:
    """Return the header that hands the present span on to a task; none where there is none."""
    headers: dict[str, str] = {}
    if _on:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(headers)
    return headers


def trace_id() -> str:
    """Return the trace that a log line belongs to, 32 hexadecimal digits; empty where it is kept
    nowhere."""
    if not _on:
        return ""
    from opentelemetry import trace

    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.trace_flags.sampled else ""


def _nothing(attributes: Attributes) -> None:
    """Note nothing."""
