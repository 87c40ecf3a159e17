"""The OpenAPI document and its page. Neither needs a token, another site or a cookie."""

from __future__ import annotations

from typing import Any

from csp.constants import SELF
from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny


class Document(SpectacularAPIView):
    """The OpenAPI document."""

    authentication_classes: Any = []
    permission_classes: Any = [AllowAny]


# The page's pictures are in its style sheet, as data.
@method_decorator(csp_update({"img-src": [SELF, "data:"]}), name="dispatch")
class Page(SpectacularSwaggerSplitView):
    """The document as a page, from our own static files."""

    authentication_classes: Any = []
    permission_classes: Any = [AllowAny]
    url_name = "api:schema"
    template_name = "api/docs.html"
    template_name_js = "api/docs.js"
    # What REST says of a resource when asked by OPTIONS is no page, and has no template.
    http_method_names: Any = ["get", "head"]
