"""Example bodies of the OpenAPI document."""

from __future__ import annotations

SESSION = "8c0f6c1e-6b0b-4b4e-9c39-6f3a52d0f0a1"
TURN = "0d3f2a52-8f43-4e0c-a0cf-5d8d9a5a7b10"

ANSWERED = {
    "id": TURN,
    "number": 1,
    "text": "I want to extend my tourist visa",
    "asked_at": "2026-11-21T10:15:30.123456Z",
    "state": "answered",
    "contacts": [],
    "steps": [{"words": "Reading your question", "status": "done"}],
    "reply": {
        "kind": "service",
        "agency_notices": [
            {"agency": "Immigration Office", "text": "The office is closed from 24 to 26 December."}
        ],
        "title": "Extend a tourist visa",
        "lead": "Fill in the extension form online.",
        "paragraphs": [],
        "facts": [{"heading": "What it costs", "items": ["40 euros"], "ordered": False}],
        "sources": [
            {
                "agency": "Immigration Office",
                "service": "Extend a tourist visa",
                "url": "https://immigration.example.org/extend",
            }
        ],
        "why": "The marked words of your question match “Extend a tourist visa”.",
        "origin": "model",
        "offline": True,
        "prepared": False,
        "still_about": "",
    },
    "choice": None,
    "useful": True,
    "feedback": None,
    "replaces": None,
    "replaced_by": None,
    "person": None,
    "lines": [],
    "mail": "none",
    "corrections": [
        {
            "text": "The fee is 45 euros since 1 December.",
            "sent_at": "2026-12-02T09:00:00.123456Z",
            "origin": "staff",
        }
    ],
}
QUEUED = {
    **ANSWERED,
    "state": "queued",
    "steps": [],
    "reply": None,
    "useful": None,
    "corrections": [],
}
