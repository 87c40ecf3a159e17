"""Work that waits side by side: several stages of a turn in one thread.

A strand is a generator that yields what it waits for and goes on when that has ended. Only the
calls of a model are made elsewhere: all the rest of a turn, its writes too, happens in one thread,
in an order that depends on nothing but the order in which the answers come.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from concurrent.futures import Future
from typing import Any, Generic, Protocol, TypeVar

from ieim.pipeline.ports import ModelUnavailable

T = TypeVar("T")

Waits = tuple[Future[Any], ...]
"""What a strand yields: it goes on when one of them has ended."""

Steps = Generator[Waits, None, T]


class Beside(Protocol):
    """Where calls are made while the thread of a turn waits."""

    def start(self, work: Callable[[], T]) -> Future[T]:
        """Do ``work`` elsewhere; what it returns or raises is the future's."""
        ...

    def wait(self, pending: Collection[Future[Any]]) -> None:
        """Return when one of ``pending`` has ended, and hold nothing meanwhile."""
        ...


class AtOnce:
    """The simplest :class:`Beside`: work is done where it is started, so nothing ever waits."""

    def start(self, work: Callable[[], T]) -> Future[T]:
        """Do ``work`` and return how it ended."""
        done: Future[T] = Future()
        try:
            done.set_result(work())
        except Exception as error:  # noqa: BLE001  # raised again where it is read
            done.set_exception(error)
        return done

    def wait(self, pending: Collection[Future[Any]]) -> None:
        """Nothing is pending."""


class Strand(Generic[T]):
    """One of the things that go on at once, and how it ended."""

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self.waits: Waits = ()
        self.ended = False
        self._returned: T | None = None
        self.unavailable: ModelUnavailable | None = None

    @property
    def ready(self) -> bool:
        """Whether it can go on."""
        return not self.waits or any(future.done() for future in self.waits)

    def step(self) -> None:
        """Go on until it waits or ends. Raises whatever it raises, but for an outage of the
        model: that is how the strand ended."""
        try:
            self.waits = next(self._steps)
        except StopIteration as stop:
            self._returned, self.ended = stop.value, True
        except ModelUnavailable as error:
            self.unavailable, self.ended = error, True

    def wait(self) -> Steps[T]:
        """Wait for it in another strand of the same run, and return its result."""
        while not self.ended:
            yield self.waits
        return self.result()

    def result(self) -> T:
        """Return what it returned, once it has ended; raises
        :class:`~ieim.pipeline.ports.ModelUnavailable` where it ended so."""
        if self.unavailable is not None:
            raise self.unavailable
        return self._returned  # type: ignore[return-value]  # it has ended: its own value


class Together:
    """The strands of one run."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._strands: list[Strand[Any]] = []

    def add(self, steps: Steps[T]) -> Strand[T]:
        """Let something else go on as well; it begins when the present strand waits."""
        strand = Strand(steps)
        self._strands.append(strand)
        return strand

    def run(self) -> None:
        """Return when every strand has ended; an error of ours in one of them ends all."""
        while live := [strand for strand in self._strands if not strand.ended]:
            ready = [strand for strand in live if strand.ready]
            if not ready:
                self._beside.wait({future for strand in live for future in strand.waits})
            for strand in ready:
                strand.step()
