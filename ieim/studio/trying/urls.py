"""Where the draft is tried."""

from __future__ import annotations

from django.urls import path

from ieim.studio.trying import views

app_name = "trying"

urlpatterns = [
    path("", views.playground, name="playground"),
    path("golden/<int:proposal>/", views.golden, name="golden"),
    path("golden/<int:proposal>/start/", views.start, name="start"),
    path("questions/", views.questions, name="questions"),
    path("questions/add/", views.add, name="question_add"),
    path("questions/<str:name>/remove/", views.remove, name="question_remove"),
]
