"""What the API tells of being told by e-mail, as JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conversations.mail.selectors import STATES


class MailStateField(serializers.ChoiceField):
    """Where that stands for one message."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            choices=STATES,
            help_text="Whether the citizen is told by e-mail: `none` where there is no such thing "
            "to ask for, `offered` where there is, `asked` until the address is confirmed, "
            "`confirmed` until the answer is there; `expired`, `refused` or `unreachable` where "
            "that came to nothing, and may be asked for anew.",
            **options,
        )
