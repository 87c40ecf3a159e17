"""Addresses of the pages that make entries of web pages."""

from django.urls import path
from django.views.generic import TemplateView

from ieim.studio.webpages import accept_views

app_name = "webpages"
urlpatterns = [
    *accept_views.urlpatterns,
    path("", TemplateView.as_view(template_name="studio/pages/home.html"), name="home"),
]
