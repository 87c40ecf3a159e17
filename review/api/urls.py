"""The reviewers' addresses of the API."""

from __future__ import annotations

from django.urls import path

from review.api import views

app_name = "review_api"

urlpatterns = [
    path("items/", views.Items.as_view(), name="items"),
    path("items/<uuid:pk>/", views.OneItem.as_view(), name="item"),
    path("items/<uuid:pk>/claim/", views.Claim.as_view(), name="claim"),
    path("items/<uuid:pk>/release/", views.Release.as_view(), name="release"),
    path("items/<uuid:pk>/decide/", views.Decide.as_view(), name="decide"),
    path("items/<uuid:pk>/talk/", views.Talk.as_view(), name="talk"),
    path("items/<uuid:pk>/messages/", views.Messages.as_view(), name="messages"),
]
