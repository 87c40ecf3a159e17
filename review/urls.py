"""The staff's addresses."""

from __future__ import annotations

from django.urls import path

from review import feedback as said_views
from review.item import views
from review.item import views as feedback_views
from review.item import views as talk_views
from review.metrics import views as metrics_views
from review.queue import views as claim_views
from review.queue import views as queue_views

app_name = "review"

urlpatterns = [
    path("", queue_views.queue, name="queue"),
    path("changes/", queue_views.changes, name="queue_changes"),
    path("bulk/", queue_views.bulk, name="bulk"),
    path("views/", queue_views.save_view, name="save_view"),
    path("feedback/", said_views.feedback_page, name="feedback"),
    path("feedback/item/", said_views.make_item_page, name="feedback_item"),
    path("metrics/", metrics_views.metrics, name="metrics"),
    path("metrics.csv", metrics_views.metrics_csv, name="metrics_csv"),
    path("<uuid:pk>/", views.item, name="item"),
    path("<uuid:pk>/golden/", feedback_views.golden, name="golden"),
    path("<uuid:pk>/claim/", claim_views.claim, name="claim"),
    path("<uuid:pk>/held/", claim_views.held, name="held"),
    path("<uuid:pk>/renew/", claim_views.renew, name="renew"),
    path("<uuid:pk>/release/", claim_views.release, name="release"),
    path("<uuid:pk>/take-over/", claim_views.take_over, name="take_over"),
    path("<uuid:pk>/talk/", talk_views.talk, name="talk"),
    path("<uuid:pk>/talk/begin/", talk_views.begin, name="talk_begin"),
    path("<uuid:pk>/talk/say/", talk_views.say, name="talk_say"),
    path("<uuid:pk>/talk/end/", talk_views.hand_back, name="talk_end"),
    path("<uuid:pk>/preview/", views.preview, name="preview"),
    path("<uuid:pk>/decide/", views.decide, name="decide"),
    path("<uuid:pk>/check/", views.check, name="check"),
    path("<uuid:pk>/services/", views.services, name="services"),
    path("<uuid:pk>/sign/", views.sign, name="sign"),
    path("<uuid:pk>/undo/<uuid:decision>/", views.undo, name="undo"),
]
