"""The citizen's addresses."""

from __future__ import annotations

from django.urls import path
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from conversations.chat import views
from conversations.mail import views as mail_views
from conversations.person import views as person_views

app_name = "conversations"

urlpatterns = [
    path("", views.chat, name="chat"),
    path("ask/", views.ask, name="ask"),
    path("turns/<uuid:turn_id>/rating/", views.rate, name="rate"),
    path("turns/<uuid:turn_id>/checklist/", views.tick, name="tick"),
    path("turns/<uuid:turn_id>/choice/", views.choose, name="choose"),
    path("turns/<uuid:turn_id>/something-else/", views.something_else, name="something_else"),
    path("turns/<uuid:turn_id>/safe/", views.safe, name="safe"),
    path("turns/<uuid:turn_id>/mail/", mail_views.mail, name="mail"),
    path("turns/<uuid:turn_id>/mail/stop/", mail_views.mail_stop, name="mail_stop"),
    path("mail/<str:secret>/", mail_views.link, name="mail_link"),
    path("mail/<str:secret>/stop/", mail_views.link_stop, name="mail_link_stop"),
    path("person/", person_views.person, name="person"),
    path("person/withdraw/", person_views.withdraw, name="person_withdraw"),
    path("start-again/", views.start_again, name="start_again"),
    path("delete/", views.delete, name="delete"),
    path("private-link/", views.private_link, name="private_link"),
    path("c/<str:secret>/", views.resume, name="resume"),
    path("c/<str:secret>/conversation.html", views.export, {"form": "html"}, name="export"),
    path("c/<str:secret>/conversation.json", views.export, {"form": "json"}, name="export_json"),
    path("language/", require_POST(set_language), name="language"),
    path("offline/", views.offline, name="offline"),
    path("worker.js", views.worker, name="worker"),
    path("help/", views.page, {"page": "help"}, name="help"),
    path("accessibility/", views.page, {"page": "accessibility"}, name="accessibility"),
    path("privacy/", views.privacy, name="privacy"),
]
