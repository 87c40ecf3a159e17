"""Tasks that wait side by side: several stages of a turn in one thread.

A task is a generator that yields the futures that it waits for, and is resumed when one has ended.
Model calls alone run in an executor: everything else of a turn, its writes too, happens in one
thread, in an order that depends only on the order in which the answers come.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from concurrent.futures import Future
from typing import Any, Generic, Protocol, TypeVar

from ieim.pipeline.ports import ModelUnavailable

T = TypeVar("T")

Steps = Generator[tuple[Future[Any], ...], None, T]
"""A task's generator: it yields futures, and goes on when one of them has ended."""


class Executor(Protocol):
    """Where model calls run while the thread of a turn waits."""

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Start ``work`` and return the future of what it returns or raises."""
        ...

    def wait(self, futures: Collection[Future[Any]]) -> None:
        """Return when one of ``futures`` has ended; hold no resource meanwhile."""
        ...


class InlineExecutor:
    """The simplest :class:`Executor`: work is done where it is submitted, so nothing ever waits."""

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Do ``work`` and return its ended future."""
        future: Future[T] = Future()
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001  # raised again where it is read
            future.set_exception(error)
        return future

    def wait(self, futures: Collection[Future[Any]]) -> None:
        """Return at once: nothing is pending."""


class Task(Generic[T]):
    """One generator of a group, and its result."""

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self.futures: tuple[Future[Any], ...] = ()
        self._result: Future[T] = Future()

    @property
    def ended(self) -> bool:
        """Whether it has returned, or ended by an outage of the model."""
        return self._result.done()

    @property
    def ready(self) -> bool:
        """Whether it can go on."""
        return not self.futures or any(future.done() for future in self.futures)

    def step(self) -> None:
        """Go on until it waits or ends. Raises what it raises, except for an outage of the model,
        which is its result."""
        try:
            self.futures = next(self._steps)
        except StopIteration as stop:
            self._result.set_result(stop.value)
        except ModelUnavailable as error:
            self._result.set_exception(error)

    def join(self) -> Steps[T]:
        """Wait for it in another task of the same group, and return its result."""
        while not self.ended:
            yield self.futures
        return self.result()

    def result(self) -> T:
        """Return its result once it has ended.

        Raises :class:`~ieim.pipeline.ports.ModelUnavailable` where that was an outage.
        """
        return self._result.result(0)


class TaskGroup:
    """The tasks of one run."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._tasks: list[Task[Any]] = []

    def start(self, steps: Steps[T]) -> Task[T]:
        """Add a task; it begins with the next round."""
        task = Task(steps)
        self._tasks.append(task)
        return task

    def run(self, steps: Steps[T]) -> T:
        """Run ``steps`` to their end and return the result; the other tasks go on meanwhile."""
        task = Task(steps)
        self._tasks.insert(0, task)
        while not task.ended:
            self._round()
        return task.result()

    def finish(self) -> None:
        """Return when every task has ended."""
        while self._tasks:
            self._round()

    def _round(self) -> None:
        """Step each task that is ready, or wait for one; an error of ours in one ends all."""
        ready = [task for task in self._tasks if task.ready]
        if not ready:
            self._executor.wait({future for task in self._tasks for future in task.futures})
        for task in ready:
            task.step()
        self._tasks = [task for task in self._tasks if not task.ended]
