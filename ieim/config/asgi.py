"""The server's entry point: HTTP to Django, websockets to the consumers, and the embedded worker.

Any ASGI server can run it; ``manage.py serve`` and ``deploy/`` use uvicorn.
"""

from __future__ import annotations

from typing import Any

import django

# First of all, because it loads the apps that the imports below need.
django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import SessionMiddlewareStack
from django.conf import settings
from django.urls import path

from conversations.routing import websocket_urlpatterns
from ieim.config import bodies, embedded, health, outage
from ieim.config.connections import StrictOriginValidator, identify
from ieim.config.handler import ThreadHandler
from ieim.config.monitoring.measures import measure_requests
from ieim.config.monitoring.serving import serve_metrics
from ieim.studio.mcp.serving import with_mcp
from review.colleagues.socket import ItemConsumer

outage.limit_waits_for_database()
if settings.IEIM_TRACES:
    from ieim.config.monitoring import tracing

    tracing.start()

# Django types `path` for HTTP views only.
item_page: Any = ItemConsumer.as_asgi()

application = ProtocolTypeRouter(
    {
        "http": health.answer_probes(
            serve_metrics(
                measure_requests(identify(with_mcp(bodies.limit_bodies(ThreadHandler()))))
            )
        ),
        "websocket": identify(
            StrictOriginValidator(
                SessionMiddlewareStack(
                    URLRouter([*websocket_urlpatterns, path("ws/review/<uuid:pk>/", item_page)])
                ),
                settings.IEIM_WEBSOCKET_ORIGINS,
            )
        ),
        "lifespan": embedded.lifespan,
    }
)
