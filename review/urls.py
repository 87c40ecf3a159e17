"""The staff's addresses."""

from __future__ import annotations

from django.urls import path

from review import views

app_name = "review"

urlpatterns = [
    path("", views.queue, name="queue"),
    path("<uuid:pk>/", views.item, name="item"),
]
