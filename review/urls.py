"""The staff's addresses."""

from __future__ import annotations

from django.urls import path

from review import claims, talking
from review import feedback as said_views
from review.batches import views as batch_views
from review.board import views as board_views
from review.colleagues import views as colleagues_views
from review.item import views
from review.metrics import views as metrics_views
from review.quality import views as quality_views
from review.queue import views as queue_views
from review.replies import views as replies

app_name = "review"

urlpatterns = [
    path("", queue_views.queue, name="queue"),
    path("changes/", queue_views.changes, name="queue_changes"),
    path("bulk/", queue_views.bulk, name="bulk"),
    path("batch/", batch_views.prepare, name="batch"),
    path("batch/<uuid:batch>/", batch_views.status, name="batch_status"),
    path("batch/<uuid:batch>/undo/", batch_views.undo, name="batch_undo"),
    path("views/", queue_views.save_view, name="save_view"),
    path("next/", views.next_item, name="next"),
    *quality_views.urlpatterns,
    path("board/", board_views.board, name="board"),
    path("board/share/", board_views.share, name="share"),
    path("board/alerts/", board_views.board_alerts, name="board_alerts"),
    path("absence/", board_views.absence, name="absence"),
    path("feedback/", said_views.feedback_page, name="feedback"),
    path("feedback/item/", said_views.make_item_page, name="feedback_item"),
    path("metrics/", metrics_views.metrics, name="metrics"),
    path("metrics.csv", metrics_views.metrics_csv, name="metrics_csv"),
    path("mentions/", colleagues_views.mentions, name="mentions"),
    path("replies/", replies.replies, name="replies"),
    path("<uuid:pk>/", views.item, name="item"),
    path("<uuid:pk>/notes/", colleagues_views.note, name="note"),
    path("<uuid:pk>/snooze/", colleagues_views.snooze, name="snooze"),
    path("<uuid:pk>/timeline/", colleagues_views.timeline, name="timeline"),
    path("<uuid:pk>/golden/", views.golden, name="golden"),
    path("<uuid:pk>/claim/", queue_views.claim, {"change": claims.claim}, name="claim"),
    path("<uuid:pk>/held/", queue_views.claim_status, name="held"),
    path("<uuid:pk>/renew/", queue_views.claim, {"change": claims.renew}, name="renew"),
    path(
        "<uuid:pk>/release/",
        queue_views.claim,
        {"change": claims.release, "to_queue": True},
        name="release",
    ),
    path("<uuid:pk>/take-over/", queue_views.claim, {"change": claims.take_over}, name="take_over"),
    path("<uuid:pk>/talk/", views.talk, name="talk"),
    path("<uuid:pk>/talk/begin/", views.change_talk, {"change": talking.begin}, name="talk_begin"),
    path("<uuid:pk>/talk/say/", views.say, name="talk_say"),
    path("<uuid:pk>/talk/end/", views.change_talk, {"change": talking.hand_back}, name="talk_end"),
    path("<uuid:pk>/preview/", views.preview, name="preview"),
    path("<uuid:pk>/decide/", views.decide, name="decide"),
    path("<uuid:pk>/check/", views.check, name="check"),
    path("<uuid:pk>/answer/", views.answer, name="answer"),
    path("<uuid:pk>/services/", views.services, name="services"),
    path("<uuid:pk>/insert/", views.insert, name="insert"),
    path("<uuid:pk>/similar/", replies.similar_page, name="similar"),
    path("<uuid:pk>/translate/", replies.translate, name="translate"),
    path("<uuid:pk>/sign/", views.sign, name="sign"),
    path("<uuid:pk>/undo/<uuid:decision>/", views.undo, name="undo"),
]
