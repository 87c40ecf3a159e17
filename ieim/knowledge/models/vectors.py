"""What a text means to an embedder, kept so that it is computed once."""

from __future__ import annotations

from django.db import models


class Vector(models.Model):
    """The vector of one text, which every release that has the text uses.

    ``sha256`` is the lower-case hex digest of the text's UTF-8, ``value`` float32 numbers, little
    end first. What was trained with vectors is kept here too, under the digest of its name.
    Deleting rows loses nothing but time.
    """

    embedder = models.CharField(max_length=100)
    sha256 = models.CharField("SHA-256", max_length=64)
    value = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["embedder", "sha256"], name="one_vector_a_text")
        ]

    def __str__(self) -> str:
        return f"vector {self.sha256[:12]} of {self.embedder}"
