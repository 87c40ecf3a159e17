"""The newest published release, made ready outside the turns, so that none of them waits for it."""

from __future__ import annotations

import logging
import threading
import time
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import close_old_connections, connection, transaction
from django.db.models.signals import post_save
from django.utils import timezone

from ieim.knowledge import crisis, selectors, vectors
from ieim.knowledge.models import Publication
from ieim.knowledge.selectors import Published
from ieim.search import forget_unused, index_for

EVERY: Final = 1.0
"""Seconds between two looks at what is published; the process that publishes looks at once."""

AGAIN: Final = 10.0
"""Seconds before the next look when one has failed."""

PATIENCE: Final = timedelta(seconds=60)
"""How long after a publication new turns may still get the release before it."""

UNUSED: Final = 600.0
"""Seconds after which a release that nobody asks for is dropped from memory."""

STOPPING: Final = 1.0
"""Seconds that stopping waits for what is under way; what was not stored then is made again."""

logger = logging.getLogger(__name__)


def effective_by(publication: Published) -> datetime:
    """Return when every process answers new questions from a publication, or from a later one."""
    return publication.at + PATIENCE


def prepare(*, make: bool = True, translations: bool = True) -> Published | None:
    """Load the newest published release and index it; return it.

    ``make`` its vectors too, where any are missing: that may take a minute. ``translations`` are
    indexed for who answers in each language. One small query when all has been done; None when
    nothing is published. Raises
    ``DatabaseError`` and :class:`ieim.knowledge.selectors.CorruptReleaseError`.
    """
    newest = selectors.newest()
    if newest is not None:
        release = selectors.loaded(newest)
        spoken = release.languages | (release.wording.languages if release.wording else set())
        languages = ("", *(sorted(spoken) if translations else ()))
        # Editors search a release as it was written, citizens as its wording puts it.
        originals = (release,) if release.wording else ()
        for view in (*originals, *map(release.in_language, languages)):
            index_for(view)
            if make:
                vectors.prepare(view)
            else:
                vectors.shortlist_for(view)
    return newest


class Follower:
    """Keeps the newest published release ready in this process, in its thread.

    The database stays the truth: the follower only holds a new release back while it is made ready,
    and only for :data:`PATIENCE`. One that is not started, or that has failed, holds nothing back.
    """

    def __init__(self) -> None:
        self._trains = False
        self._answers = True
        self._lock = threading.Lock()
        self._ready: Published | None = None
        self._pinned = 0
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_ready(self) -> bool:
        """Whether this process has read a release, its search and what danger looks like."""
        return self._ready is not None

    def number(self) -> int | None:
        """Return the number of the release of :meth:`publication`."""
        publication = self.publication()
        return None if publication is None else publication.number

    def publication(self) -> Published | None:
        """Return the publication whose release a new turn is pinned to, None before the first.

        That is the newest one, or the one before it while the newest is made ready.
        It never goes back to an earlier publication than it has once returned.
        """
        publications = selectors.published_since(self._ready)
        if not publications:
            return None
        newest = publications[-1]
        # What matters is when the first that is not ready came: later ones do not prolong it.
        waits = len(publications) > 1 and timezone.now() < effective_by(publications[1])
        with self._lock:
            earlier = waits and publications[0].id >= self._pinned
            chosen = publications[0] if earlier else newest
            self._pinned = max(self._pinned, chosen.id)
        return chosen

    def step(self) -> None:
        """Make the newest published release ready, and only then let new turns have it.

        Raises what :func:`prepare` does; then nothing is held back until a step succeeds. A release
        with other examples of danger is ready once a worker has trained with them; the model before
        reads messages meanwhile.
        """
        try:
            # At the start first: nobody in danger waits for a catalogue. Later the release comes
            # before half a minute of training: turns that get it in the end find it indexed.
            is_first = self._ready is None
            is_trained = crisis.prepare(trains=self._trains and is_first)
            vectors.prepare_reading()
            newest = prepare(make=self._answers, translations=self._answers)
            if self._trains and not is_trained:
                is_trained = crisis.prepare(trains=True)
            if is_trained or is_first or not crisis.has_model():
                self._ready = newest
        except Exception:
            self._ready = None
            raise
        # What is ready has just been asked for, so it stays however quiet the day is.
        long_ago = time.monotonic() - UNUSED
        selectors.forget_unused(before=long_ago)
        forget_unused(before=long_ago)
        vectors.forget_unused(before=long_ago)

    def wake(self) -> None:
        """Let the thread look at once."""
        self._wake.set()

    def start(self, *, trains: bool) -> None:
        """Start following, in a thread that does not keep the process alive.

        ``trains`` says that this process is a worker: examples that an administration adds are
        trained with here, vectors are made, and each language is indexed. A web process only reads
        the results, and indexes a translation when somebody of staff needs it.
        """
        self._trains = self._answers = trains
        self._stopping.clear()
        self._wake.clear()
        post_save.connect(self._published, sender=Publication)
        self._thread = threading.Thread(target=self._run, name="ieim-release", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Follow no longer; waits a little for what is under way. Harmless when not started."""
        post_save.disconnect(self._published, sender=Publication)
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(STOPPING)
        self._ready = None

    def _published(self, **_signal: Any) -> None:
        transaction.on_commit(self.wake)

    def _run(self) -> None:
        failing = False
        while not self._stopping.is_set():
            try:
                self.step()
                failing = False
            except Exception:
                # Whatever it was, the thread goes on: the database may only be away for a while.
                if not failing:
                    logger.exception("The newest release is not ready; turns wait for it meanwhile")
                failing = True
            finally:
                close_old_connections()
            self._wake.wait(AGAIN if failing else EVERY)
            # Whatever was published before this line is seen by the step that follows.
            self._wake.clear()
        connection.close()


follower: Final = Follower()
"""The follower of this process."""
