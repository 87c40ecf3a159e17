"""The address of the script. Pages in frames have no list: they are the citizen's own."""

from __future__ import annotations

from django.urls import path

from conversations.framing import script

app_name = "framing"

urlpatterns = [path("embed.js", script.embed, name="script")]
