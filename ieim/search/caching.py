"""Values that a process builds once and keeps a few of."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Slot(Generic[V]):
    """A place for one value, with a lock of its own: building one holds up no other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values: list[V] = []
        self.used = 0.0


class Cache(Generic[K, V]):
    """The values that were used last, built by whoever asks first; safe for threads.

    At most ``most`` are kept, counted by ``group``. Who holds a dropped one goes on with it.
    """

    def __init__(self, most: int, group: Callable[[K], Hashable] = lambda key: key) -> None:
        self._most = most
        self._group = group
        self._slots: OrderedDict[K, _Slot[V]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, build: Callable[[], V]) -> V:
        """Return the value of ``key``, built where there is none."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            slot.used = time.monotonic()
            while len(set(map(self._group, self._slots))) > self._most:
                self._slots.popitem(last=False)
        with slot.lock:
            if not slot.values:
                slot.values.append(build())
            return slot.values[0]

    def __iter__(self) -> Iterator[K]:
        """Yield the keys of what is kept, the one used last at the end."""
        with self._lock:
            return iter(list(self._slots))

    def forget_unused(self, *, before: float) -> None:
        """Drop what nobody has asked for since ``before``, a time of ``monotonic``."""
        with self._lock:
            for key in [key for key, slot in self._slots.items() if slot.used < before]:
                del self._slots[key]
